// Query strings for the logs of AI calls: filters, cursors, sums and series.

import assert from 'node:assert/strict'
import {
  logCursorOf,
  readQuery,
  readRemoval,
  readSeries,
  readSums,
  readTail,
} from '../../../src/ai-logs/query.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import type { LogFilter } from '../../../src/store/contract/store.ts'
import type { Target } from '../target.ts'

const now = Date.UTC(2026, 0, 31)

function attempt(input: Buffer): void {
  const params = new URLSearchParams(input.toString())
  const list = good(readQuery(params))
  if (list !== null) {
    const { offset, limit, after, maxScanned = 1 } = list
    assert.ok(limit >= 1 && limit <= 100 && maxScanned >= 1)
    assert.ok(Number.isSafeInteger(offset) && offset >= 0)
    if (after) {
      const again = good(readQuery(new URLSearchParams({ cursor: logCursorOf(after) })))
      assert.deepEqual(again?.after, after, 'a cursor is read as it was written')
    }
    assertFilters(list.filters)
  }
  const series = good(readSeries(params, now))
  if (series !== null) {
    const { since, width, count } = series.windows
    assert.ok(Number.isSafeInteger(since) && since % width === 0 && count >= 1 && count <= 750)
  }
  for (const read of [readSums, readTail, readRemoval]) {
    const query = good<{ readonly filters: readonly LogFilter[] }>(read(params))
    if (query !== null) assertFilters(query.filters)
  }
}

/** Null for faults, of which there is at least one, each with its words. */
function good<Query extends object>(read: Query | Fault[]): Query | null {
  if (!Array.isArray(read)) return read
  assert.ok(read.length > 0 && read.length <= 20)
  for (const { message } of read) assert.notEqual(message, '')
  return null
}

function assertFilters(filters: readonly LogFilter[]): void {
  for (const { values } of filters) {
    assert.ok(values.length > 0)
    for (const value of values) if (typeof value === 'number') assert.ok(Number.isFinite(value))
  }
}

const cursor = logCursorOf({ value: 5, createdAt: 1, id: '0123456789abcdef' })

export const target: Target = {
  seeds: [
    'page=2&per_page=50&order_by=cost&order_by_direction=asc&meta_info=false&min_cost=0.5&success=true',
    `cursor=${cursor}&search=a&start_date=2026-01-31T12:00:00Z&max_scanned=5`,
    'filters.key=model&filters.operator=eq&filters.value=a&filters.value=&filters.key=tokens&filters.operator=lt&filters.value=5',
    'group_by=model,provider&start_date=2026-01-30&end_date=2026-01-31T00:00:00%2B01:00',
    'group_by=token&bucket=minute',
    'cursor=MTIzNCAwMTIzNDU2Nzg5YWJjZGVm',
    'limit=10&direction=desc',
  ],
  tokens: [
    ...[
      '&',
      '=',
      '%00',
      '%F0%9F%98%80',
      '%',
      '+',
      '-1',
      '0',
      '1',
      '101',
      '1e6',
      '999999999999999',
      '0.000001',
      'true',
      'asc',
    ],
    ...[
      'filters.key=',
      'filters.operator=',
      'filters.value=',
      'metadata',
      'contains',
      'created_at',
      'neq',
      'gt',
      'status',
    ],
    ...[
      'page=',
      'per_page=',
      'order_by=',
      'cursor=',
      'max_scanned=',
      'start_date=',
      'end_date=',
      'bucket=',
      'group_by=',
    ],
    ...[
      'day',
      'hour',
      '0000-01-01',
      '9999-12-31',
      '2024-02-29',
      'T24:00:00Z',
      'T23:59:60Z',
      '+14:00',
      cursor,
      'W251bGws',
    ],
  ],
  maxLength: 1024,
  covers: [
    'src/ai-logs/query.ts',
    'src/ai-logs/query-values.ts',
    'src/ai-logs/query-filters.ts',
    'src/base/text/moment.ts',
  ],
  attempt,
}
