// The promises of a store about filters and orders of log entries: by example, and that all backends agree with log-match.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { batchOf } from '../../src/store/log-batch/batch.ts'
import { comparePlaces, matches, placeOf } from '../../src/store/contract/log-match.ts'
import type { ActingApp, LogEntry } from '../../src/store/records/records.ts'
import { type LogField, type LogFilter, type LogQuery, logFields } from '../../src/store/contract/store.ts'
import type { Place } from './contract.ts'
import { gateway, logEntries, logQuery } from './contract-specimens.ts'

type Value = LogFilter['values'][number]
type Case = [operator: LogFilter['operator'], values: Value[], expected: string]

// Three entries, `a` to `c`, as each field shows them; what they are filtered by, and who is found.
const fields: Readonly<Partial<Record<LogField, { members: Partial<LogEntry>[]; cases: Case[] }>>> = {
  created_at: {
    members: [{ createdAt: 10 }, { createdAt: 20 }, { createdAt: 30 }],
    cases: [...ordered(10, 20, 30), ['contains', [20], '']],
  },
  provider: texts('provider'),
  model: { members: absentFirst('model', 'gpt-5'), cases: absentFirstCases('gpt-5', 'GPT') },
  path: texts('path'),
  status: {
    members: [{ status: 200 }, { status: 404 }, { status: 500 }],
    cases: [...ordered(200, 404, 500), ['eq', ['200'], ''], ['contains', ['0'], '']],
  },
  success: flags('success'),
  cached: flags('cached'),
  authenticated: flags('authenticated'),
  duration: {
    members: [{ duration: 0.5 }, { duration: 2 }, { duration: 1e9 }],
    cases: ordered(0.5, 2, 1e9),
  },
  tokens_in: { members: absentFirst('tokensIn', 7), cases: numbersWithAbsent(7) },
  tokens_out: { members: absentFirst('tokensOut', 7), cases: numbersWithAbsent(7) },
  tokens: {
    members: [
      { tokensIn: 3, tokensOut: 4 },
      { tokensIn: 5, tokensOut: null },
      { tokensIn: null, tokensOut: null },
    ],
    cases: [
      ['eq', [7], 'a'],
      ['gt', [5], 'ab'],
      ['lt', [5], 'b'],
      ['eq', [null], 'c'],
      ['neq', [null], 'ab'],
    ],
  },
  user_id: {
    members: [{}, { app: appOf('u1', 'c1') }, { app: appOf('u2', 'c1') }],
    cases: [
      ['eq', ['u1'], 'b'],
      ['neq', ['u1'], 'ac'],
      ['eq', [null], 'a'],
    ],
  },
  client_id: {
    members: [{}, { app: appOf('u1', 'c1') }, { app: appOf('u2', 'c2') }],
    cases: [
      ['eq', ['c1', 'c2'], 'bc'],
      ['contains', ['C2'], 'c'],
      ['neq', [null], 'bc'],
    ],
  },
  event_id: {
    members: [{}, { eventId: 'order-1' }, { eventId: 'order-2' }],
    cases: [
      ['eq', ['order-1'], 'b'],
      ['contains', ['ORDER'], 'bc'],
      ['eq', [null], 'a'],
      ['neq', ['order-1'], 'ac'],
    ],
  },
  feedback: {
    members: [{}, { feedback: -1 }, { feedback: 1 }],
    cases: [
      ['eq', [1], 'c'],
      ['gt', [-1], 'bc'],
      ['eq', [null], 'a'],
    ],
  },
  cost: { members: absentFirst('cost', 0.25), cases: numbersWithAbsent(0.25) },
  request_content_type: {
    members: absentFirst('requestContentType', 'text/plain'),
    cases: absentFirstCases('text/plain', '/PL'),
  },
  response_content_type: {
    members: absentFirst('responseContentType', 'text/plain'),
    cases: absentFirstCases('text/plain', '/PL'),
  },
  metadata: {
    members: [
      { metadata: { user: 'Zoë', age: 4.5 } },
      { metadata: { team: 'b_l%e', trial: true, note: null } },
      { metadata: null },
    ],
    cases: [
      ['contains', ['USER'], 'a'],
      ['contains', ['zoë'], 'a'],
      ['contains', ['ZOË'], ''],
      ['contains', ['4.5'], 'a'],
      ['contains', ['true'], 'b'],
      ['contains', ['note null'], 'b'],
      ['contains', ['_l%'], 'b'],
      ['contains', ['"', '{', ':', ','], ''],
      ['contains', ['%'], 'b'],
      ['contains', ['nowhere', 'team'], 'b'],
      ['contains', [''], 'ab'],
      ['eq', ['user Zoë age 4.5'], 'a'],
      ['eq', [null], 'c'],
      ['neq', [null], 'ab'],
    ],
  },
}

export function logFiltersContract(name: string, place: Place): void {
  for (const [field, { members, cases }] of Object.entries(fields)) {
    test(`${name}: entries are filtered and ordered by ${field}`, async t => {
      const { find } = await keep(place, t, members)
      for (const [operator, values, expected] of cases) {
        const found = await find({ filters: [{ field: field as LogField, operator, values }] })
        assert.equal(found, expected, `${field} ${operator} ${JSON.stringify(values)}`)
      }
      const up = await find({ orderBy: field as LogField })
      assert.equal(
        await find({ orderBy: field as LogField, descending: true }),
        up.split('').reverse().join(''),
      )
    })
  }

  test(`${name}: entries are filtered and ordered by id`, async t => {
    const members = ['00000000000000ff', '0000000000000100', 'ffffffffffffffff'].map(id => ({ id }))
    const { find } = await keep(place, t, members)
    const eq = members.slice(1).map(({ id }) => id)
    assert.equal(await find({ filters: [{ field: 'id', operator: 'eq', values: eq }] }), 'bc')
    assert.equal(await find({ filters: [{ field: 'id', operator: 'contains', values: ['FF'] }] }), 'ac')
    assert.equal(await find({ orderBy: 'id', descending: true }), 'cba')
  })

  test(`${name}: all filters must match, and without a value only neq does`, async t => {
    const { find } = await keep(place, t, [{ status: 200 }, { status: 200, cached: true }, { cached: true }])
    const status: LogFilter = { field: 'status', operator: 'lt', values: [200] }
    const cached: LogFilter = { field: 'cached', operator: 'eq', values: [true] }
    assert.equal(await find({ filters: [status, cached] }), 'bc')
    assert.equal(await find({ filters: [{ ...cached, values: [] }] }), '')
    assert.equal(await find({ filters: [{ ...cached, operator: 'neq', values: [] }] }), 'abc')
  })

  test(`${name}: a filter may name thousands of values`, async t => {
    const { find } = await keep(place, t, [{ model: 'a' }, { model: '4999' }, { model: null }])
    const values = Array.from({ length: 5000 }, (_, i) => String(i))
    assert.equal(await find({ filters: [{ field: 'model', operator: 'eq', values }] }), 'b')
    assert.equal(await find({ filters: [{ field: 'model', operator: 'neq', values }] }), 'ac')
    assert.equal(
      await find({ filters: values.map(value => ({ field: 'model', operator: 'neq', values: [value] })) }),
      'ac',
    )
  })

  test(`${name}: the absent comes first, and what is equal is ordered by creation`, async t => {
    const members = [{ cost: 2 }, { cost: null }, { cost: 1 }, { cost: 2 }, { cost: null }]
    const { find } = await keep(place, t, members)
    assert.equal(await find({ orderBy: 'cost' }), 'becad')
    assert.equal(await find({ orderBy: 'cost', descending: true }), 'daceb')
  })

  test(`${name}: any filter and order gives what log-match says`, async t => {
    const open = await place(t)
    const store = await open()
    const kept = gateway()
    await store.gateways.insert(kept)
    const entries = fc.sample(someEntry, { numRuns: 60, seed: 20_260_101 })
    const full = logEntries(kept, entries.length, i => entries[i]!)
    await store.logs.append(kept.account, kept.id, batchOf(full), {
      maxEntries: 100,
      strategy: 'DELETE_OLDEST',
    })
    const last = fc.option(fc.record({ at: fc.nat(full.length - 1), isGone: fc.boolean() }))
    const property = fc.asyncProperty(someQuery, last, async (asked, last) => {
      const place = last && placeOf(full[last.at]!, asked.orderBy)
      // One that was removed: it is in no list, and has its place all the same.
      const after = place && last.isGone ? { ...place, id: `${place.id}-` } : place
      const query = { ...asked, after }
      const { items, total } = await store.logs.list(kept.account, kept.id, query)
      const compare = comparePlaces(query.descending)
      const expected = full
        .filter(entry => matches(entry, query.filters))
        .sort((a, b) => compare(placeOf(a, query.orderBy), placeOf(b, query.orderBy)))
      assert.equal(total, expected.length)
      const behind = expected.filter(
        entry => after === null || compare(after, placeOf(entry, query.orderBy)) < 0,
      )
      const page = behind.slice(query.offset, query.offset + query.limit)
      assert.deepEqual(
        items.map(({ id }) => id),
        page.map(({ id }) => id),
      )
    })
    await fc.assert(property, { numRuns: 300 })
  })
}

/** Keeps an entry for each of the members, and finds them by the letter of their place. */
async function keep(place: Place, t: TestContext, members: readonly Partial<LogEntry>[]) {
  const store = await (await place(t))()
  const kept = gateway()
  await store.gateways.insert(kept)
  const entries = logEntries(kept, members.length, i => members[i]!)
  await store.logs.append(kept.account, kept.id, batchOf(entries), {
    maxEntries: 100,
    strategy: 'DELETE_OLDEST',
  })
  const letters = new Map(entries.map(({ id }, i) => [id, 'abcdefgh'[i]!]))
  const find = async (query: Partial<LogQuery>) => {
    const { items, total } = await store.logs.list(kept.account, kept.id, logQuery(query))
    assert.equal(total, items.length)
    return items.map(({ id }) => letters.get(id)).join('')
  }
  return { find }
}

function appOf(user: string, client: string): ActingApp {
  return { user, email: `${user}@example.com`, client, clientName: 'An app “7”' }
}

function ordered(first: number, second: number, third: number): Case[] {
  return [
    ['eq', [second], 'b'],
    ['eq', [first, third], 'ac'],
    ['neq', [second], 'ac'],
    ['neq', [first, third], 'b'],
    ['lt', [second], 'ab'],
    ['gt', [second], 'bc'],
    ['gt', [third + 1], ''],
    ['gt', [third + 1, second], 'bc'],
    ['eq', [null], ''],
    ['neq', [null], 'abc'],
    ['lt', [null], ''],
  ]
}

function texts(member: 'provider' | 'path') {
  const members = ['custom-Ä', 'openai', '\u{1f600}\uffee'].map(value => ({ [member]: value }))
  const cases: Case[] = [
    ['eq', ['openai'], 'b'],
    ['eq', ['OPENAI'], ''],
    ['neq', ['openai', 'other'], 'ac'],
    ['contains', ['OPEN'], 'b'],
    ['contains', ['Ä', 'nAi'], 'ab'],
    ['contains', ['ä'], ''],
    ['lt', ['openai'], 'ab'],
    ['gt', ['\uffff'], 'c'],
    ['gt', [1], ''],
    ['neq', [1, true], 'abc'],
  ]
  return { members, cases }
}

function flags(member: 'success' | 'cached' | 'authenticated') {
  const cases: Case[] = [
    ['eq', [true], 'b'],
    ['eq', [false], 'ac'],
    ['eq', [true, false], 'abc'],
    ['neq', [true], 'ac'],
    ['eq', [1], ''],
    ['eq', ['true'], ''],
    ['gt', [true], 'b'],
    ['lt', [true], 'abc'],
    ['contains', ['true'], ''],
  ]
  return { members: [{ [member]: false }, { [member]: true }, { [member]: false }], cases }
}

function absentFirst(member: keyof LogEntry, value: string | number): Partial<LogEntry>[] {
  return [{ [member]: null }, { [member]: value }, { [member]: null }]
}

function absentFirstCases(value: string, part: string): Case[] {
  return [
    ['eq', [value], 'b'],
    ['eq', [null], 'ac'],
    ['eq', [null, value], 'abc'],
    ['neq', [value], 'ac'],
    ['neq', [null], 'b'],
    ['neq', ['other'], 'abc'],
    ['contains', [part], 'b'],
    ['contains', ['null'], ''],
    ['contains', [null], ''],
    ['gt', [''], 'b'],
    ['lt', [value], 'b'],
  ]
}

function numbersWithAbsent(value: number): Case[] {
  return [
    ['eq', [value], 'b'],
    ['eq', [null], 'ac'],
    ['neq', [value], 'ac'],
    ['lt', [value], 'b'],
    ['gt', [value], 'b'],
    ['gt', [value + 0.1], ''],
    ['lt', [null], ''],
    ['eq', [String(value)], ''],
  ]
}

// Few values, so that filters find something and ties are common.
const text = fc.constantFrom(
  '',
  'a',
  'A',
  'ab',
  'é',
  'É',
  '%',
  '\\',
  '"',
  ' ',
  'a\nb',
  '\u{1f600}',
  '\uffee',
  '1',
)
const number = fc.constantFrom(0, 1, -1, 1.5, 200, 2 ** 40)
const count = fc.option(fc.constantFrom(0, 1, 2, 7))
const someEntry = fc.record({
  createdAt: fc.constantFrom(0, 1, 200),
  provider: text,
  model: fc.option(text),
  path: text,
  status: fc.constantFrom(0, 1, 200),
  success: fc.boolean(),
  cached: fc.boolean(),
  authenticated: fc.boolean(),
  duration: fc.constantFrom(0, 1, 1.5),
  tokensIn: count,
  tokensOut: count,
  cost: fc.option(number),
  requestContentType: fc.option(text),
  responseContentType: fc.option(text),
  metadata: fc.option(
    fc.dictionary(text, fc.oneof(text, number, fc.boolean(), fc.constant(null)), { maxKeys: 2 }),
  ),
})
const someFilter: fc.Arbitrary<LogFilter> = fc.record({
  field: fc.constantFrom(...logFields),
  operator: fc.constantFrom('eq', 'neq', 'contains', 'lt', 'gt'),
  values: fc.array(fc.oneof(text, number, fc.boolean(), fc.constant(null)), { maxLength: 2 }),
})
const someQuery: fc.Arbitrary<LogQuery> = fc.record({
  filters: fc.array(someFilter, { maxLength: 2 }),
  orderBy: fc.constantFrom(...logFields),
  descending: fc.boolean(),
  offset: fc.constantFrom(0, 1, 10),
  limit: fc.constantFrom(0, 1, 5, 100),
})
