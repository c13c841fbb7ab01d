// What reloads leave in memory: nothing of zones, pools and limits that are no more, whatever their names were.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import type { Config } from '../../src/config/model/config.ts'
import type { RateLimitConfig } from '../../src/config/model/limit-config.ts'
import { ZoneMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { LimitDecisions } from '../../src/metrics/counters/limit-metrics.ts'
import { Pool, PoolLedger } from '../../src/pools/pool.ts'
import { TallyScope } from '../../src/activity/tally-book.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { thorough } from '../help/thorough.ts'

const request = 'GET / HTTP/1.1\r\nhost: site.test\r\nconnection: close\r\n\r\n'

/** By what all that is counted is found in one look at the heap, which takes longer than all else here. */
class Counted {}

for (const { prototype } of [ZoneMetrics, LimitDecisions, TallyScope, Pool, PoolLedger])
  Object.setPrototypeOf(prototype, Counted.prototype)

/** Returns how many there are of each class, after a garbage collection. */
function living(): Readonly<Record<string, number>> {
  const names = queryObjects(Counted, { format: 'summary' }).map(text => /^\w+/.exec(text)![0])
  return Object.fromEntries([...Map.groupBy(names, name => name)].map(([name, all]) => [name, all.length]))
}

/** Returns a limit that nothing reaches. */
function limit(name: string, round: number): RateLimitConfig {
  return { name: `${name}-${round}`, limit: 1000, period: 1000, key: [], when: null, action: 'block' }
}

/** Returns the configuration with other names for its zones, pools and limits. */
function renamed(config: Config, round: number): Config {
  const zones = config.zones.map(zone => ({
    ...zone,
    name: `zone-${round}`,
    rateLimits: [limit('zone', round)],
    quota: { day: 1000, month: 1000 },
    routes: zone.routes.map(route => ({
      ...route,
      rateLimits: [limit('route', round)],
      pool: route.pool && { ...route.pool, name: `pool-${round}` },
    })),
  }))
  return { ...config, rateLimits: [limit('all', round)], zones }
}

const reloads = thorough(100, 30)

test(`after ${reloads} reloads with other names there are no more zones, pools and limits than after two`, async t => {
  const origin = await startResponder(t, ok('hello'))
  const config = edgeConfig([origin.url])
  const edge = await listenAt(t, new Edge(t, config))
  const reload = async (round: number) => {
    edge.reload(renamed(config, round))
    // Between two turns, so that nothing on the stack holds what was replaced.
    await new Promise(setImmediate)
  }
  for (let round = 0; round < 2; round++) await reload(round)
  const few = living()
  for (let round = 2; round < 2 + reloads; round++) await reload(round)
  // Dead ledgers go as the next pool is made.
  living()
  await reload(2 + reloads)
  assert.deepEqual(living(), few)
  assert.ok(few.Pool! > 0 && few.ZoneMetrics! > 0 && few.LimitDecisions! > 0)
  assert.equal((await edge.ask(request)).status, 200)
})

test('a request that a dropped zone still counts is counted by its name', async t => {
  const config = edgeConfig(['http://127.0.0.1:9'])
  const edge = await listenAt(t, new Edge(t, config))
  const name = config.zones[0]!.name
  const dropped = edge.metrics.zone(name)
  edge.reload(renamed(config, 1))
  assert.ok(!edge.metrics.zones.has(name))
  dropped.request(200, 1)
  dropped.request(200, 1)
  assert.equal(edge.metrics.zones.get(name)!.classes['2xx'].count, 2)
  // What has counted stays, as counters must.
  edge.reload(renamed(config, 2))
  assert.equal(edge.metrics.zones.get(name)!.classes['2xx'].count, 2)
})

test('a request that a dropped limit still counts is counted by its name', async t => {
  const config = edgeConfig(['http://127.0.0.1:9'])
  const edge = await listenAt(t, new Edge(t, { ...config, rateLimits: [limit('all', 0)] }))
  const { rules } = edge.metrics.limits
  const dropped = rules.get('all-0')!
  edge.reload(renamed(config, 1))
  const names = ['all-1', 'zone-1', 'zone-1:day', 'zone-1:month', 'route-1']
  assert.deepEqual([...rules.keys()].sort(), names.sort())
  for (const decision of ['allowed', 'limited', 'logged', 'limited'] as const) dropped.note(decision)
  const { allowed, limited, logged } = rules.get('all-0')!
  assert.deepEqual([allowed.value, limited.value, logged.value], [1, 2, 1])
  // What has counted stays, as counters must.
  edge.reload(renamed(config, 2))
  assert.ok(rules.has('all-0') && !rules.has('all-1'))
})
