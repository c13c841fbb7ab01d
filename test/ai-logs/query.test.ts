import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import Cloudflare from 'cloudflare'
import fc from 'fast-check'
import { readQuery, readRemoval } from '../../src/ai-logs/query.ts'
import { type LogQuery, logFields } from '../../src/store/contract/store.ts'
import { anyCharacter } from '../help/any-text.ts'

const usual = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 20 }

function query(text: string): LogQuery {
  const query = readQuery(new URLSearchParams(text))
  ok(!Array.isArray(query), JSON.stringify(query))
  return query
}

function faults(text: string, read = readQuery): readonly string[] {
  const faults = read(new URLSearchParams(text))
  ok(Array.isArray(faults))
  return faults.map(({ code, message }) => `${code} ${message}`)
}

describe('the query of a list', () => {
  test('requests the newest 20 by default', () => {
    deepEqual(query(''), usual)
  })

  test('reads page and order', () => {
    deepEqual(query('page=3&per_page=50&order_by=cost&order_by_direction=asc&meta_info=false'), {
      ...usual,
      orderBy: 'cost',
      descending: false,
      offset: 100,
      limit: 50,
    })
    equal(query('direction=asc').descending, false)
    equal(query('direction=asc&order_by_direction=desc').descending, true)
  })

  const comparisons = [
    ['status=429', 'status', 'eq', 429],
    ['success=false', 'success', 'eq', false],
    ['cached=true', 'cached', 'eq', true],
    ['model=gpt-4o', 'model', 'eq', 'gpt-4o'],
    ['provider=openai', 'provider', 'eq', 'openai'],
    ['search=a%20b', 'metadata', 'contains', 'a b'],
    ['start_date=2026-01-31T12:00:00Z', 'created_at', 'gt', Date.UTC(2026, 0, 31, 12)],
    ['end_date=2026-01-31T12:00:00.5%2B01:00', 'created_at', 'lt', Date.UTC(2026, 0, 31, 11, 0, 0, 500)],
    ['end_date=2026-01-31', 'created_at', 'lt', Date.UTC(2026, 0, 31)],
    ['min_cost=0.5', 'cost', 'gt', 0.5],
    ['max_cost=1', 'cost', 'lt', 1],
    ['min_duration=10', 'duration', 'gt', 10],
    ['max_tokens_in=10', 'tokens_in', 'lt', 10],
    ['min_tokens_out=10', 'tokens_out', 'gt', 10],
    ['max_total_tokens=10', 'tokens', 'lt', 10],
  ] as const
  for (const [text, field, operator, value] of comparisons) {
    test(`reads ${text}`, () => {
      deepEqual(query(text).filters, [{ field, operator, values: [value] }])
    })
  }

  const bad = [
    ['page=0', '10001 page must be a whole number from 1 to 1000000'],
    ['page=1e3', '10001 page must be a whole number from 1 to 1000000'],
    ['per_page=101', '10001 per_page must be a whole number from 1 to 100'],
    [
      'order_by=model_type',
      `10001 order_by must be one of created_at, provider, model, status, success, cached, cost, tokens_in, tokens_out, duration, feedback`,
    ],
    ['order_by_direction=down', '10001 order_by_direction must be asc or desc'],
    ['meta_info=true', '10001 meta_info can only be false'],
    ['status=abc', '10001 status must be a number'],
    ['success=1', '10001 success must be true or false'],
    ['model=', '10001 model must have 1 to 1000 characters'],
    ['start_date=yesterday', '10001 start_date must be a date and time such as 2026-01-31T12:00:00Z'],
    [
      'start_date=2026-02-31T12:00:00',
      '10001 start_date must be a date and time such as 2026-01-31T12:00:00Z',
    ],
    ['start_date=2026-13-01', '10001 start_date must be a date and time such as 2026-01-31T12:00:00Z'],
    ['start_date=2026-02-31', '10001 start_date must be a date and time such as 2026-01-31T12:00:00Z'],
    ['end_date=2025-02-29T12:00:00Z', '10001 end_date must be a date and time such as 2026-01-31T12:00:00Z'],
    ['feedback=1', '10003 feedback is an unknown query parameter'],
    ['__proto__=1', '10003 __proto__ is an unknown query parameter'],
    ['constructor=1', '10003 constructor is an unknown query parameter'],
    ['model=a&model=b', '10004 model must be given once'],
    ['limit=5', '10003 limit is an unknown query parameter'],
  ] as const
  for (const [text, message] of bad) {
    test(`refuses ${text}`, () => {
      deepEqual(faults(text), [message])
    })
  }

  test('reports all mistakes at once, up to 20', () => {
    equal(faults('page=0&per_page=0&model=&x=1&filters.key=nothing').length, 5)
    equal(faults(Array.from({ length: 50 }, (_, i) => `x${i}=1`).join('&')).length, 20)
  })
})

describe('filters', () => {
  const read = (...parts: readonly string[]) => query(parts.map(part => `filters.${part}`).join('&')).filters

  test('belong together by their order', () => {
    const expected = [
      { field: 'provider', operator: 'eq', values: ['openai', 'groq'] },
      { field: 'cost', operator: 'gt', values: [0.5] },
    ]
    deepEqual(
      read(
        'key=provider',
        'operator=eq',
        'value=openai',
        'value=groq',
        'key=cost',
        'operator=gt',
        'value=0.5',
      ),
      expected,
    )
    deepEqual(
      read(
        'value=openai',
        'value=groq',
        'operator=eq',
        'key=provider',
        'value=0.5',
        'operator=gt',
        'key=cost',
      ),
      expected,
    )
    deepEqual(
      read(
        'operator=eq',
        'value=openai',
        'value=groq',
        'key=provider',
        'operator=gt',
        'value=0.5',
        'key=cost',
      ),
      expected,
    )
  })

  const filters = [
    [['key=authentication', 'operator=eq', 'value=false'], 'authenticated', 'eq', [false]],
    [['key=model', 'operator=eq', 'value='], 'model', 'eq', [null]],
    [['key=tokens', 'operator=neq', 'value=', 'value=5'], 'tokens', 'neq', [null, 5]],
    [['key=metadata', 'operator=contains', 'value=x'], 'metadata', 'contains', ['x']],
    [['key=path', 'operator=contains', 'value=/v1'], 'path', 'contains', ['/v1']],
    [['key=created_at', 'operator=lt', 'value=2026-01-01'], 'created_at', 'lt', [Date.UTC(2026, 0, 1)]],
  ] as const
  for (const [parts, field, operator, values] of filters) {
    test(`are read from ${parts.join(' ')}`, () => {
      deepEqual(read(...parts), [{ field, operator, values }])
    })
  }

  const bad = [
    [['key=user_agent', 'operator=eq', 'value=x'], 'filters the key must be one of id, created_at,'],
    [['operator=eq', 'value=x'], 'filters the key must be one of'],
    [['key=metadata.key', 'operator=eq', 'value=x'], 'filters the key must be one of'],
    [
      ['key=model', 'operator=like', 'value=x'],
      'filters model: the operator must be eq, neq, contains, lt, gt',
    ],
    [['key=model', 'value=x'], 'filters model: the operator must be'],
    [['key=model', 'operator=lt', 'value=x'], 'filters model cannot be compared with lt'],
    [['key=cost', 'operator=contains', 'value=1'], 'filters cost cannot be compared with contains'],
    [['key=metadata', 'operator=eq', 'value=1'], 'filters metadata cannot be compared with eq'],
    [['key=cost', 'operator=gt'], 'filters cost: there must be 1 to 100 values'],
    [['key=cost', 'operator=gt', 'value='], 'filters cost: a value must be a number'],
    [['key=success', 'operator=eq', 'value=yes'], 'filters success: a value must be true or false'],
  ] as const
  for (const [parts, message] of bad) {
    test(`are refused: ${parts.join(' ')}`, () => {
      const [fault] = faults(parts.map(part => `filters.${part}`).join('&'))
      ok(fault?.startsWith(`10001 ${message}`), String(fault))
    })
  }

  test('are refused when there are too many', () => {
    const [fault] = faults('filters.key=model&filters.operator=eq&filters.value=x&'.repeat(21))
    equal(fault, '10001 filters must have at most 20 filters')
  })
})

describe('the query of a removal', () => {
  test('means the oldest 10,000 by default', () => {
    const query = readRemoval(new URLSearchParams())
    deepEqual(query, { ...usual, descending: false, limit: 10_000 })
  })

  test('takes filters, an order and a limit, and nothing of a list', () => {
    const text =
      'limit=7&order_by=cost&order_by_direction=desc&filters.key=model&filters.operator=eq&filters.value=m'
    deepEqual(readRemoval(new URLSearchParams(text)), {
      filters: [{ field: 'model', operator: 'eq', values: ['m'] }],
      orderBy: 'cost',
      descending: true,
      offset: 0,
      limit: 7,
    })
    deepEqual(faults('model=m', readRemoval), ['10003 model is an unknown query parameter'])
    deepEqual(faults('limit=0', readRemoval), ['10001 limit must be a whole number from 1 to 10000'])
  })
})

test('the published client writes queries that are read as they were meant', async () => {
  const sent: URL[] = []
  const fetch = async (url: string | URL | Request) => {
    sent.push(new URL(String(url)))
    return Response.json({ success: true, errors: [], messages: [], result: [] })
  }
  const client = new Cloudflare({ apiToken: 't', baseURL: 'http://gateway.test/client/v4', fetch })
  await client.aiGateway.logs.list('g', {
    account_id: 'a',
    page: 2,
    per_page: 5,
    order_by: 'model',
    order_by_direction: 'asc',
    success: true,
    search: 'a&b',
    filters: [
      { key: 'provider', operator: 'eq', value: ['openai', 'x&y'] },
      { key: 'model', operator: 'neq', value: [null] },
      { operator: 'gt', value: [0.5], key: 'cost' },
    ],
  })
  deepEqual(readQuery(sent[0]!.searchParams), {
    filters: [
      { field: 'success', operator: 'eq', values: [true] },
      { field: 'metadata', operator: 'contains', values: ['a&b'] },
      { field: 'provider', operator: 'eq', values: ['openai', 'x&y'] },
      { field: 'model', operator: 'neq', values: [null] },
      { field: 'cost', operator: 'gt', values: [0.5] },
    ],
    orderBy: 'model',
    descending: false,
    offset: 5,
    limit: 5,
  })
  await client.aiGateway.logs.delete('g', {
    account_id: 'a',
    limit: 3,
    filters: [{ key: 'cached', operator: 'eq', value: [false] }],
  })
  deepEqual(readRemoval(sent[1]!.searchParams), {
    ...usual,
    filters: [{ field: 'cached', operator: 'eq', values: [false] }],
    descending: false,
    limit: 3,
  })
})

test('any query gives one for the store or faults, and never throws', () => {
  const name = fc.oneof(
    fc.constantFrom(
      'page',
      'per_page',
      'order_by',
      'filters.key',
      'filters.operator',
      'filters.value',
      'status',
      'search',
      'start_date',
    ),
    fc.string({ unit: anyCharacter }),
  )
  const value = fc.oneof(
    fc.constantFrom('1', 'eq', 'lt', 'model', 'cost', 'true', '', '2026-01-01', 'NaN', '1e9', '-1'),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.constantFrom(readQuery, readRemoval), (pairs, read) => {
      const query = read(new URLSearchParams(pairs))
      if (Array.isArray(query)) return ok(query.length > 0)
      ok(Number.isSafeInteger(query.offset) && query.limit >= 1 && query.limit <= 10_000)
      for (const { field, values } of query.filters) {
        ok(logFields.includes(field) && values.length > 0)
        ok(values.every(value => typeof value !== 'number' || Number.isFinite(value)))
      }
    }),
    { numRuns: 500 },
  )
})
