import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { cursorOf, Parameters, strayParameters } from '../../../src/admin/http/query.ts'

const parametersOf = (text: string) => new Parameters(new URLSearchParams(text))

test('without parameters a page is the first, of 20', () => {
  assert.deepEqual(parametersOf('').page(), { page: 1, perPage: 20, after: null })
})

test('a list may have another default page length, and other bounds', () => {
  assert.deepEqual(parametersOf('').page(100), { page: 1, perPage: 100, after: null })
  assert.equal(parametersOf('per_page=1000').page(1_000, 1_000).perPage, 1_000)
})

test('a page has the requested length, up to 100', () => {
  assert.deepEqual(parametersOf('page=7&per_page=100').page(), { page: 7, perPage: 100, after: null })
})

test('a cursor is the position it was made from, and cannot be combined with a page', () => {
  for (const place of [
    { at: 1_767_225_600_000, id: 'a'.repeat(32) },
    { at: 0.5, id: 'default' },
    { at: -3, id: 'shop.example/500_errors' },
  ]) {
    const cursor = cursorOf(place)
    assert.match(cursor, /^[\w-]+$/)
    assert.deepEqual(parametersOf(`cursor=${cursor}&per_page=7`).page(), {
      page: 1,
      perPage: 7,
      after: place,
    })
    const both = parametersOf(`cursor=${cursor}&page=1`)
    both.page()
    assert.deepEqual(both.faults, [
      { code: 10001, message: 'cursor cannot be combined with page', pointer: null },
    ])
  }
  for (const text of [
    'cursor=',
    'cursor=x',
    `cursor=${btoa('1')}`,
    `cursor=${btoa('x y')}`,
    `cursor=${btoa('1e9 y')}`,
  ]) {
    const parameters = parametersOf(text)
    parameters.page()
    const message = 'cursor must be a cursor from an earlier page of this list'
    assert.deepEqual(parameters.faults, [{ code: 10001, message, pointer: null }], text)
  }
})

test('invalid pages are refused with the name and the rule', () => {
  for (const text of [
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=',
    'page=1000001',
    'page=1e3',
    'page=%201',
  ]) {
    const parameters = parametersOf(text)
    parameters.page()
    assert.deepEqual(
      parameters.faults,
      [{ code: 10001, message: 'page must be a whole number from 1 to 1000000', pointer: null }],
      text,
    )
  }
})

test('all mistakes are reported at once', () => {
  const parameters = parametersOf('page=0&per_page=5000&direction=up')
  parameters.page()
  parameters.choice('direction', ['asc', 'desc'])
  assert.deepEqual(
    parameters.faults.map(({ message }) => message),
    [
      'page must be a whole number from 1 to 1000000',
      'per_page must be a whole number from 1 to 100',
      'direction must be asc or desc',
    ],
  )
})

test('a choice is the first unless another is given', () => {
  assert.equal(parametersOf('').choice('direction', ['asc', 'desc']), 'asc')
  assert.equal(parametersOf('direction=desc').choice('direction', ['asc', 'desc']), 'desc')
})

test('a time is a day or a moment, and null where there is none', () => {
  const day = Date.UTC(2030, 0, 31)
  for (const [text, time] of [
    ['', null],
    ['t=2030-01-31', day],
    ['t=2030-01-31T00:00:00Z', day],
    ['t=2030-01-31T00:00:00.5Z', day + 500],
    ['t=2030-01-31T01:00:00%2B01:00', day],
  ] as const)
    assert.equal(parametersOf(text).time('t'), time, text)
  for (const text of ['t=', 't=0', 't=2030', 't=2030-13-01', 't=2030-01-31T00:00:00', 't=Thu, 31 Jan 2030']) {
    const parameters = parametersOf(text)
    assert.equal(parameters.time('t'), null)
    assert.deepEqual(parameters.faults, [
      {
        code: 10001,
        message: 't must be a date or a time, such as 2030-01-31 or 2030-01-31T12:00:00Z',
        pointer: null,
      },
    ])
  }
})

test('unknown and duplicate parameters are reported by name', () => {
  const faults = strayParameters(new URLSearchParams('page=1&page=2&colour=red'), ['page'])
  assert.deepEqual(
    faults.map(({ code, message }) => [code, message]),
    [
      [10004, 'page must be given once'],
      [10003, 'colour is an unknown query parameter'],
    ],
  )
})

test('a page stays within its bounds, whatever the query', () => {
  const pair = fc.tuple(
    fc.constantFrom('page', 'per_page', 'x'),
    fc.oneof(fc.string(), fc.integer().map(String)),
  )
  fc.assert(
    fc.property(fc.array(pair), pairs => {
      const query = new URLSearchParams(pairs)
      const { page, perPage } = new Parameters(query).page()
      strayParameters(query, ['page'])
      return page >= 1 && page <= 1_000_000 && perPage >= 1 && perPage <= 100
    }),
  )
})
