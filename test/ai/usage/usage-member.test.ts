import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { countsIn, usageAt } from '../../../src/ai/usage/usage-member.ts'

test('a member gives its text and its counts', () => {
  const member = '"usage" : {"input_tokens":5,"cache_read_input_tokens":20,"output_tokens":7}'
  const text = `{"a":{},${member},"b":{}}`
  deepEqual(usageAt(text, text.indexOf(member)), {
    text: member,
    tokensIn: 25,
    tokensOut: 7,
    cacheRead: 20,
    cacheWritten: 0,
    cacheWrittenLong: 0,
    audioIn: 0,
    audioOut: 0,
    searches: 0,
    cost: null,
    tier: null,
  })
})

test('what Claude used besides its counts, to compact or for advice, is added to them', () => {
  const used = { input_tokens: 5, cache_read_input_tokens: 20, output_tokens: 7 }
  const iterations = [
    { type: 'compaction', input_tokens: 100, cache_creation_input_tokens: 1, output_tokens: 10 },
    { type: 'message', ...used },
    { type: 'advisor_message', model: 'claude-opus-4-5', input_tokens: 1000, output_tokens: 100 },
    { type: 'unknown', input_tokens: 9 },
    null,
  ]
  const { tokensIn, tokensOut, cacheRead, cacheWritten, advice } = usageAt(
    `"usage":${JSON.stringify({ ...used, iterations })}`,
    0,
  )!
  deepEqual([tokensIn, tokensOut, cacheRead, cacheWritten], [1126, 117, 20, 1])
  deepEqual(
    advice!.map(({ model, tokensIn, tokensOut }) => [model, tokensIn, tokensOut]),
    [['claude-opus-4-5', 1000, 100]],
  )
})

test('anything but a usage object is null', () => {
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

test('each count is read from the first known name that is present', () => {
  const object = '{"cache_read_input_tokens":2,"input_tokens":1,"output_tokens":3,"promptTokenCount":9}'
  const none = {
    tokensIn: null,
    tokensOut: null,
    total: null,
    cacheRead: null,
    cacheWritten: null,
    cacheWrittenLong: null,
    audioIn: null,
    audioCached: null,
    audioOut: null,
    searches: null,
  }
  deepEqual(countsIn(object), { ...none, tokensIn: [1, 2], tokensOut: [3], cacheRead: [2] })
  deepEqual(countsIn('{"cache_read_input_tokens":2}'), { ...none, cacheRead: [2] })
  equal(countsIn('{'), null)
})

test('each provider reports cached tokens in its own way', () => {
  const forms = [
    ['{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":3}}', 4, 3, 0],
    ['{"input_tokens":9,"input_tokens_details":{"cached_tokens":4}}', 4, 0, 0],
    ['{"promptTokenCount":9,"cachedContentTokenCount":4}', 4, 0, 0],
    ['{"prompt_tokens":9,"prompt_cache_hit_tokens":4,"prompt_cache_miss_tokens":5}', 4, 0, 0],
    [
      '{"input_tokens":1,"cache_read_input_tokens":4,"cache_creation_input_tokens":5,"cache_creation":{"ephemeral_5m_input_tokens":3,"ephemeral_1h_input_tokens":2}}',
      4,
      5,
      2,
    ],
    ['{"prompt_tokens":9,"prompt_tokens_details":null}', 0, 0, 0],
    ['{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":-1}}', 0, 0, 0],
  ] as const
  for (const [object, ...cache] of forms) {
    const { cacheRead, cacheWritten, cacheWrittenLong } = usageAt(`"usage":${object}`, 0)!
    deepEqual([cacheRead, cacheWritten, cacheWrittenLong], cache, object)
  }
})
