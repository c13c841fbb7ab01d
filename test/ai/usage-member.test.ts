import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { countsIn, usageAt } from '../../src/ai/usage-member.ts'

test('a member gives its text and its counts', () => {
  const member = '"usage" : {"input_tokens":5,"cache_read_input_tokens":20,"output_tokens":7}'
  const text = `{"a":{},${member},"b":{}}`
  deepEqual(usageAt(text, text.indexOf(member)), { text: member, tokensIn: 25, tokensOut: 7 })
})

test('what is no usage object is null', () => {
  const others = [
    '"usage":null',
    '"usage":7',
    '"usages":{"prompt_tokens":1}',
    '"usage":{"prompt_tokens":1',
    '"usage":{"prompt_tokens":01}',
    '"usage":{"prompt_tokens":-1}',
    '"usage":{}',
    `"usage":{"prompt_tokens":1,"a":"${'a'.repeat(4096)}"}`,
  ]
  for (const text of others) equal(usageAt(text, 0), null)
})

test('counts are told one by one, in the first spelling that is there', () => {
  const object = '{"cache_read_input_tokens":2,"input_tokens":1,"output_tokens":3,"promptTokenCount":9}'
  deepEqual(countsIn(object), { tokensIn: [1, 2], tokensOut: [3] })
  deepEqual(countsIn('{"cache_read_input_tokens":2}'), { tokensIn: null, tokensOut: null })
  equal(countsIn('{'), null)
})
