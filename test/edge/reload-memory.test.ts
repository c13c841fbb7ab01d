// What reloads leave in memory: nothing of zones and pools that are no more, whatever their names were.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { queryObjects } from 'node:v8'
import type { Config } from '../../src/config/config.ts'
import { ZoneMetrics } from '../../src/metrics/edge-metrics.ts'
import { Pool, PoolLedger } from '../../src/pools/pool.ts'
import { TallyScope } from '../../src/tallies/tally-book.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

const request = 'GET / HTTP/1.1\r\nhost: site.test\r\nconnection: close\r\n\r\n'

/** Returns how many there are of each class, after a garbage collection. */
function living(): Readonly<Record<string, number>> {
  const classes = [ZoneMetrics, TallyScope, Pool, PoolLedger]
  return Object.fromEntries(classes.map(one => [one.name, queryObjects(one, { format: 'count' })]))
}

/** Returns the configuration with other names for its zones and pools. */
function renamed(config: Config, round: number): Config {
  const zones = config.zones.map(zone => ({
    ...zone,
    name: `zone-${round}`,
    routes: zone.routes.map(route => ({
      ...route,
      pool: route.pool && { ...route.pool, name: `pool-${round}` },
    })),
  }))
  return { ...config, zones }
}

test('after a hundred reloads with other names there are no more zones and pools than after two', async t => {
  const origin = await startResponder(t, ok('hello'))
  const config = edgeConfig([origin.url])
  const edge = await listenAt(t, new Edge(t, config))
  const reload = async (round: number) => {
    edge.plane.reload(renamed(config, round))
    // Between two turns, so that nothing on the stack holds what was replaced.
    await new Promise(setImmediate)
  }
  for (let round = 0; round < 2; round++) await reload(round)
  const few = living()
  for (let round = 2; round < 102; round++) await reload(round)
  // Dead ledgers go as the next pool is made.
  living()
  await reload(102)
  assert.deepEqual(living(), few)
  assert.ok(few.Pool! > 0 && few.ZoneMetrics! > 0)
  assert.equal((await edge.ask(request)).status, 200)
})

test('a request that a dropped zone still counts is counted by its name', async t => {
  const config = edgeConfig(['http://127.0.0.1:9'])
  const edge = await listenAt(t, new Edge(t, config))
  const name = config.zones[0]!.name
  const dropped = edge.metrics.zone(name)
  edge.plane.reload(renamed(config, 1))
  assert.ok(!edge.metrics.zones.has(name))
  dropped.request(200, 1)
  dropped.request(200, 1)
  assert.equal(edge.metrics.zones.get(name)!.classes['2xx'].count, 2)
  // What has counted stays, as counters must.
  edge.plane.reload(renamed(config, 2))
  assert.equal(edge.metrics.zones.get(name)!.classes['2xx'].count, 2)
})
