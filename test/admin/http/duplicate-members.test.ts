import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { repeatedMembers } from '../../../src/admin/http/duplicate-members.ts'
import { cpuTime } from '../../help/stall.ts'

test('a duplicate member of an object is found, wherever it is', () => {
  assert.deepEqual(repeatedMembers('{"a":1,"a":2}', 9), ['/a'])
  assert.deepEqual(repeatedMembers('{"a":[0,{"b":{"x":1,"y":2,"x":3}}]}', 9), ['/a/1/b/x'])
  assert.deepEqual(repeatedMembers('{ "a" : 1 , "b" : [ ] , "a" : { "b" : 2 } , "b" : 3 }', 9), ['/a', '/b'])
})

test('two spellings of one name are one name', () => {
  assert.deepEqual(repeatedMembers('{"name":1,"n\\u0061me":2}', 9), ['/name'])
})

test('pointers are escaped, and limited in number', () => {
  assert.deepEqual(repeatedMembers('{"a/b~":1,"a/b~":2}', 9), ['/a~1b~0'])
  assert.equal(repeatedMembers(`{${'"a":1,'.repeat(50)}"a":1}`, 3).length, 3)
})

test('a pointer does not grow with the depth of a body', () => {
  const [pointer] = repeatedMembers(`${'['.repeat(100_000)}{"a":1,"a":2}${']'.repeat(100_000)}`, 9)
  assert.equal(pointer, '/0'.repeat(20))
})

test('the same name in other objects, and in text, is not a duplicate', () => {
  assert.deepEqual(
    repeatedMembers('{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}],"c":"{\\"a\\":1,\\"a\\":2}"}', 9),
    [],
  )
})

test('what a serialiser writes has none, and with one member repeated has that one', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), object => {
      const text = JSON.stringify(object)
      assert.deepEqual(repeatedMembers(text, 9), [])
      const [name] = Object.keys(object)
      assert.equal(repeatedMembers(`${text.slice(0, -1)},${JSON.stringify(name)}:[]}`, 9).length, 1)
    }),
  )
})

test('a body of one long text, or of brackets alone, is read in no time', () => {
  const took = cpuTime(() => {
    repeatedMembers(JSON.stringify({ a: '"\\'.repeat(300_000), b: 'x'.repeat(900_000) }), 9)
    repeatedMembers('['.repeat(500_000) + ']'.repeat(500_000), 9)
  })
  assert.ok(took < 5_000, `${took} ms`)
})
