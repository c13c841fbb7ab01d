import { equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { refuseDuplicate } from '../../../src/ai/translate/duplicates.ts'

/** Gives the pointer and the message of the refusal; null for none. */
function faultIn(json: string): string | null {
  const refusal = refuseDuplicate(json)
  if (refusal === null) return null
  const [fault] = refusal.faults
  return `${fault!.pointer} ${fault!.message}`
}

describe('a member that an object has twice is refused by its place', () => {
  const pairs: readonly (readonly [json: string, fault: string])[] = [
    ['{"a":1,"a":2}', '/a a must be given once'],
    ['{"a":1,"\\u0061":1}', '/a a must be given once'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__ __proto__ must be given once'],
    ['{"a/b":{"":1,"":2}}', '/a~1b/ a/b. must be given once'],
    [
      '{"messages":[{"role":"user"},{"content":[1,[],{},{"text":"\\\\","text":""}]}]}',
      '/messages/1/content/3/text messages[1].content[3].text must be given once',
    ],
    [' { "a" : { "b" : 1 } , "a" : "{" }', '/a a must be given once'],
  ]
  for (const [json, fault] of pairs) test(json, () => equal(faultIn(json), fault))

  test('and a name that came elsewhere is none', () => {
    equal(faultIn('{"a":{"a":"a","b":["a","a",{"a":"\\"a\\":1"}]},"b":[],"c":{}}'), null)
    equal(faultIn('{}'), null)
  })

  test('wherever it is in any request', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (object, at) => {
        const json = JSON.stringify(object)
        equal(refuseDuplicate(json), null)
        const names = Object.keys(object)
        const name = JSON.stringify(names[at % names.length])
        ok(refuseDuplicate(`[0,{"x":${json.slice(0, -1)},${name}:{}}}]`))
      }),
    )
  })
})
