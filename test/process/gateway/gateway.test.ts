import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import type { Config } from '../../../src/config/model/config.ts'
import { checkKeys, type KeyedCheckResult } from '../../../src/edge/origin/health/health-checker.ts'
import { Gateway } from '../../../src/process/gateway/gateway.ts'
import { Management } from '../../../src/process/services/management.ts'
import { Services } from '../../../src/process/services/services.ts'
import type { ManagedPlane } from '../../../src/process/plane/managed-plane.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { edgeConfig } from '../../help/edge.ts'
import { startSite } from '../../help/site.ts'
import { turnsUntil } from '../../help/until.ts'

/** Makes a gateway whose data plane listens as told; `said` has the messages of its log. */
function gatewayThat(
  listen: () => Promise<void>,
  plans: Partial<ManagedPlane> = {},
  config = edgeConfig([]),
) {
  const said: string[] = []
  const log = createLogger('info', { write: line => said.push(JSON.parse(line).msg) })
  const plane: ManagedPlane = {
    isUp: true,
    sockets: [],
    listen: () => listen().then(() => []),
    prepare: async () => ({ commit: () => {} }),
    drain: async () => {},
    cut: async () => {},
    destroy: () => {},
    takeChecks: () => {},
    takeTicketKeys: () => {},
    takeCertificates: async () => {},
    pools: async () => [],
    providers: async () => [],
    nearLimits: async () => [],
    explain: async () => null,
    snapshots: async () => [],
    ...plans,
  }
  const metrics = new Metrics('0')
  const openServices = () =>
    Services.open(config, { metrics: metrics.edge, log, sidePort: () => config.admin })
  const openManagement = (config: Config, store: Store) => Management.open(config, store, metrics, log)
  const commands = { reload: async () => 'not here', upgrade: async () => 'not here' }
  const operator = { commands, waiting: () => {} }
  const parts = { log, metrics, openServices, openManagement, buildPlane: () => plane, ...operator }
  return { gateway: new Gateway(config, parts), said }
}

test('a gateway says that it is ready once it runs', async t => {
  const { gateway, said } = gatewayThat(async () => {})
  t.after(() => gateway.stop())
  await gateway.start()
  assert.deepEqual([gateway.unready, said], [null, ['ready']])
})

test('what workers have counted is read every 15 s, whoever else reads it: a worker that is killed takes no more with it', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let reads = 0
  const snapshots = async () => {
    reads++
    return []
  }
  const { gateway } = gatewayThat(async () => {}, { snapshots })
  t.after(() => gateway.stop())
  await gateway.start()
  t.mock.timers.tick(15_000)
  await turnsUntil(() => reads === 1)
})

test('a gateway that is stopped while it starts is never ready, and does not say so', async () => {
  const { gateway, said } = gatewayThat(async () => void gateway.stop())
  await gateway.start()
  await gateway.stop()
  assert.deepEqual([gateway.unready, said], ['draining', []])
})

test('results of checks are known to a new configuration before it takes effect', async t => {
  const origin = await startSite(t, (_, response) => response.writeHead(503).end())
  const check = {
    path: '/',
    host: null,
    interval: 20,
    timeout: 1_000,
    healthy: 1,
    unhealthy: 1,
    least: 200,
    most: 399,
  }
  const configWith = (interval: number) => edgeConfig([origin], { pool: { check: { ...check, interval } } })
  const [before, after] = [configWith(20), configWith(21)]
  const down = Promise.withResolvers<void>()
  const takeChecks = (results: readonly KeyedCheckResult[]) => {
    if (results.some(({ isUp }) => !isUp)) down.resolve()
  }
  const known: boolean[] = []
  const prepare = async (config: Config) => ({
    commit: (checks: readonly KeyedCheckResult[]) => {
      const down = checks.filter(({ isUp }) => !isUp).map(({ key }) => key)
      known.push([...checkKeys(config)].every(key => down.includes(key)))
    },
  })
  const { gateway } = gatewayThat(async () => {}, { takeChecks, prepare }, before)
  t.after(() => gateway.stop())
  await gateway.start()
  await down.promise
  await gateway.reload(after)
  assert.deepEqual(known, [true])
})

test('when anything of a configuration cannot be prepared, no part of it is applied', async t => {
  const committed: string[] = []
  const prepare = async ({ name }: Config) => {
    if (name === 'unbuildable') throw new Error('it does not build')
    return { commit: () => void committed.push(name) }
  }
  const before = edgeConfig([])
  const { gateway } = gatewayThat(async () => {}, { prepare }, before)
  t.after(() => gateway.stop())
  await gateway.start()
  const certificates = [{ certificate: 'nonsense', key: '' }]
  await assert.rejects(gateway.reload({ ...before, tls: { ...before.tls, certificates } }))
  await assert.rejects(gateway.reload({ ...before, name: 'unbuildable' }), { message: 'it does not build' })
  assert.equal(gateway.config, before)
  const after = { ...before, name: 'after' }
  await gateway.reload(after)
  assert.deepEqual([gateway.config, committed], [after, ['after']])
})
