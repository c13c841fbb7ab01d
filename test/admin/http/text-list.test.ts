import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Field } from '../../../src/admin/http/field.ts'
import { distinct, readList, textsOf } from '../../../src/admin/http/text-list.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'

const noX = (text: string) => (text.includes('x') ? 'must be without x' : null)

/** Does something with a field, and gives what came of it beside the faults. */
function over<T>(value: unknown, act: (field: Field) => T) {
  const faults: Fault[] = []
  const result = act(new Field(value, faults, '/list', 'list'))
  return { result, faults: faults.map(({ code, message, pointer }) => [code, pointer, message]) }
}
const read = (value: unknown, least: 0 | 1 = 0) =>
  over(value, field => readList(field, least, 3, ['kept'], noX))

test('a list replaces the stored one completely, and absence keeps that', () => {
  assert.deepEqual(read(undefined), { result: ['kept'], faults: [] })
  assert.deepEqual(read(['b', 'a']), { result: ['b', 'a'], faults: [] })
})

test('null empties a list that may be empty, and is refused otherwise', () => {
  assert.deepEqual(read(null), { result: [], faults: [] })
  assert.deepEqual(read(null, 1).faults, [[10001, '/list', 'list must be a list of 1 to 3 items']])
})

test('a list has as many as it may', () => {
  assert.deepEqual(read([]).faults, [])
  for (const [value, least] of [
    [[], 1],
    [['a', 'b', 'c', 'd'], 0],
    ['a', 0],
    [{ length: 1 }, 0],
  ] as const)
    assert.deepEqual(read(value, least).faults, [
      [10001, '/list', `list must be a list of ${least} to 3 items`],
    ])
})

test('each invalid element is reported by its position', () => {
  assert.deepEqual(read(['a', 'xx', 7]), {
    result: ['a'],
    faults: [
      [10001, '/list/1', 'list[1] must be without x'],
      [10001, '/list/2', 'list[2] must be a string'],
    ],
  })
})

test('a duplicate in a list is refused, and nothing else in it', () => {
  assert.deepEqual(read(['a', 'a', 'a']).faults, [
    [10004, '/list/1', 'list[1] duplicates an earlier item'],
    [10004, '/list/2', 'list[2] duplicates an earlier item'],
  ])
  assert.deepEqual(read(['x', 'x']).faults, [
    [10004, '/list/1', 'list[1] duplicates an earlier item'],
    [10001, '/list/0', 'list[0] must be without x'],
  ])
})

test('values that only look alike are allowed, and keep their case', () => {
  assert.deepEqual(read(['a', 'A', 'a ']), { result: ['a', 'A', 'a '], faults: [] })
})

test('the URI of a bare host is the same with its slash, and any other is not', () => {
  const places = (list: string[]) =>
    over(list, field => distinct(field.items(0, 3))).faults.map(([, pointer]) => pointer)
  assert.deepEqual(places(['https://a.example', 'https://a.example/', 'https://a.example']), [
    '/list/1',
    '/list/2',
  ])
  assert.deepEqual(places(['https://a.example/b', 'https://a.example/b/', 'https://a.example?']), [])
})

test('the texts of a list are those in which the rule finds no fault', () => {
  const texts = (list: unknown[]) => over(list, field => textsOf(field.items(0, 3), noX)).result
  assert.deepEqual([texts(['b', 'ax', 'c']), texts([null, 'b']), texts([])], [['b', 'c'], ['b'], []])
})
