import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import type { LogEntry } from '../../../src/store/records/records.ts'
import { startRedis } from '../../help/redis.ts'
import { account } from '../../tokens/token-with.ts'
import { entryWith } from '../ai-logs/log-entries.ts'
import { gatewayOf, startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'
import { zoneWith } from '../zones/zones.ts'

test('an overview shows requests, origins, store and process', async t => {
  const { ask, given, metrics, clock } = await startApi(t)
  given.configs = [zoneWith(), zoneWith({ name: 'foreign', account: '9'.repeat(32) })]
  metrics.edge.zone('main').request(200, 5)
  metrics.edge.zone('main').request(503, 5)
  metrics.edge.zone('foreign').request(200, 5)
  metrics.edge.ai.queuedEntries = () => 7
  const { status, json } = await ask('GET', '/overview')
  assert.equal(status, 200)
  const { at, requests, origins, store, process } = json.result
  const now = new Date(clock.now()).toISOString()
  assert.deepEqual([at, requests.since], [now, now])
  assert.deepEqual([requests.minutes.length, requests.hours.length], [60, 24])
  for (const windows of [requests.minutes, requests.hours]) {
    const [{ zone, classes }, ...others] = windows.at(-1).zones
    assert.deepEqual([zone, others], ['main', []])
    assert.deepEqual([classes['2xx'], classes['5xx'], classes['4xx'] ?? 0], [1, 1, 0])
    assert.deepEqual(windows[0].zones, [])
  }
  assert.deepEqual(origins, [
    { zone: 'main', unchecked: 0, healthy: 0, failing: 0, ejected: 1, trial: 0, down: 1 },
  ])
  assert.ok(store.size > 0)
  assert.deepEqual(
    { ...store, size: 1 },
    {
      backend: 'sqlite',
      location: 'sqlite::memory:',
      is_reachable: true,
      refuses_writes: null,
      is_durable: false,
      losses: ['Everything is kept in memory and lost when the process stops.'],
      size: 1,
      queued_log_entries: 7,
    },
  )
  assert.deepEqual(process, { version: '1.2.3', started_at: now, workers: 2 })
  const { responses } = described.find(({ id }) => id === 'getOverview')!
  assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, json), '')
})

test('an overview shows what waits for the export of log entries, unless it is off', async t => {
  const { ask, logExport, clock, keepToken } = await startApi(t)
  const read = async (token?: string) =>
    (await ask('GET', '/overview', token === undefined ? {} : { token })).json.result.log_export
  assert.equal(await read(), undefined)
  const now = new Date(clock.now()).toISOString()
  logExport.state = {
    waiting: { entries: 3, bytes: 4096, oldest: clock.now() },
    failure: { since: clock.now(), message: 'status 401', isPermanent: true },
    maxDisk: 1,
  }
  assert.deepEqual(await read(), {
    waiting: { entries: 3, bytes: 4096, oldest_at: now },
    failure: { since: now, message: 'status 401', needs_change: true },
  })
  logExport.state = { waiting: null, failure: null, maxDisk: 1 }
  assert.deepEqual(await read(), { waiting: null, failure: null })
  const { value } = await keepToken(['OAuth Clients Write'])
  assert.equal(await read(value), undefined)
})

test('an overview sums up the calls of AI gateways in the last day, the busiest first', async t => {
  const { ask, kept, clock } = await startApi(t)
  const now = clock.now()
  const add = (gateway: string, entries: readonly LogEntry[]) =>
    kept.logs.append(account, gateway, batchOf(entries), { maxEntries: 1_000, strategy: 'DELETE_OLDEST' })
  const hour = 3_600_000
  for (const id of ['busy', 'idle', ...Array.from({ length: 20 }, (_, i) => `more-${i}`)])
    await kept.gateways.insert(gatewayOf(id))
  const saved = { tokensIn: 3, tokensOut: 4, cost: 0.5 }
  await add('default', [
    entryWith(1, { createdAt: now - hour, cost: 0.1, success: false, cached: true, saved }),
  ])
  await add(
    'busy',
    [now, now - 23 * hour, now - 25 * hour].map((createdAt, i) =>
      entryWith(i + 2, { createdAt, gateway: 'busy', cost: i === 0 ? 0.2 : null }),
    ),
  )
  const read = async () => (await ask('GET', '/overview')).json.result.ai
  let ai = await read()
  while (!ai.is_complete) ai = await read()
  const savings = { count_cached: 1, saved_tokens_in: 3, saved_tokens_out: 4, saved_cost: 0.5 }
  const noSavings = { count_cached: 0, saved_tokens_in: 0, saved_tokens_out: 0, saved_cost: 0 }
  const tokens = (calls: number) => ({ tokens_in: 10 * calls, tokens_out: 20 * calls })
  const inAll = [
    { gateway_id: 'busy', count: 2, errors: 0, ...tokens(2), cost: 0.2, count_without_cost: 1, ...noSavings },
    {
      gateway_id: 'default',
      count: 1,
      errors: 1,
      ...tokens(1),
      cost: 0.1,
      count_without_cost: 0,
      ...savings,
    },
  ]
  assert.deepEqual(ai.gateways, inAll)
  assert.equal(ai.price_date, '2026-01-31')
  assert.deepEqual(
    ai.hours.map(({ count }: { count: number }) => count),
    [1, ...Array(21).fill(0), 1, 1],
  )
  assert.equal(ai.hours[0].at, ai.since)
})

test('an overview shows no more than the token may see', async t => {
  const { ask, keepToken } = await startApi(t)
  const seen = async (...permissions: Parameters<typeof keepToken>[0]) => {
    const { value: token } = await keepToken(permissions)
    const { json } = await ask('GET', '/overview', { token })
    return Object.keys(json.result).join(' ')
  }
  assert.equal(await seen(), 'at')
  assert.equal(await seen('Zones Read'), 'at requests')
  assert.equal(await seen('Origins Read'), 'at origins')
  assert.equal(await seen('AI Gateway Read'), 'at ai')
  assert.equal(await seen('Metrics Read'), 'at store process')
  assert.equal((await ask('GET', '/overview', { token: null })).status, 401)
})

test('the overview shows the size of Redis and which writes it may lose', async t => {
  const server = await startRedis(t, { aof: 'everysec' })
  const { ask } = await startApi(t, store => store, server.url)
  const { store } = (await ask('GET', '/overview')).json.result
  assert.deepEqual([store.backend, store.is_durable], ['redis', false])
  assert.ok(store.size > 100_000)
  assert.match(store.losses.join(' '), /lose|lost/)
})
