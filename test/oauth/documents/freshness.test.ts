import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freshnessOf } from '../../../src/oauth/documents/freshness.ts'

const minute = 60_000

test('a document is fresh for as long as its server says, from 5 minutes to an hour', () => {
  const now = Date.parse('2026-11-29T12:00:00Z')
  const cases: readonly (readonly [Readonly<Record<string, string>>, number])[] = [
    [{}, 5],
    [{ 'cache-control': 'max-age=1800' }, 30],
    [{ 'cache-control': 'public, Max-Age="1800"' }, 30],
    [{ 'cache-control': 's-maxage=60,max-age=1800', age: '600' }, 20],
    [{ 'cache-control': 'max-age=10' }, 5],
    [{ 'cache-control': 'max-age=999999999' }, 60],
    [{ 'cache-control': 'max-age=1e9' }, 5],
    [{ 'cache-control': 'no-store, max-age=1800' }, 5],
    [{ 'cache-control': 'no-cache' }, 5],
    [{ 'cache-control': 'x-max-age=1800' }, 5],
    [{ expires: 'Sun, 29 Nov 2026 12:40:00 GMT' }, 40],
    [{ expires: '0' }, 5],
    [{ expires: 'Sun, 29 Nov 2026 12:40:00 GMT', age: '60' }, 39],
    [{ 'cache-control': 'max-age=600', expires: 'Sun, 29 Nov 2026 12:40:00 GMT' }, 10],
    [{ 'cache-control': 'max-age=1800', age: 'x' }, 30],
  ]
  for (const [headers, minutes] of cases)
    assert.equal(freshnessOf(headers, now), minutes * minute, JSON.stringify(headers))
})
