import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../src/base/log.ts'
import { Metrics } from '../../src/base/metrics.ts'
import type { Config } from '../../src/config/config.ts'
import { Gateway } from '../../src/process/gateway.ts'
import { Management } from '../../src/process/management.ts'
import { Services } from '../../src/process/services.ts'
import type { ManagedPlane } from '../../src/process/managed-plane.ts'
import type { Store } from '../../src/store/store.ts'
import { edgeConfig } from '../help/edge.ts'

/** Makes a gateway whose data plane listens as told; `said` has the messages of its log. */
function gatewayThat(listen: () => Promise<void>) {
  const said: string[] = []
  const log = createLogger('info', { write: line => said.push(JSON.parse(line).msg) })
  const plane: ManagedPlane = {
    isUp: true,
    listen: () => listen().then(() => []),
    reload: async () => {},
    drain: async () => {},
    destroy: () => {},
    takeChecks: () => {},
    pools: async () => [],
    snapshots: async () => [],
  }
  const metrics = new Metrics('0')
  const config = edgeConfig([])
  const openServices = () => Services.open(config, { metrics: metrics.edge, log })
  const openManagement = (config: Config, store: Store) => Management.open(config, store, metrics, log)
  const parts = { log, metrics, openServices, openManagement, buildPlane: () => plane }
  return { gateway: new Gateway(config, parts), said }
}

test('a gateway says that it is ready once it runs', async t => {
  const { gateway, said } = gatewayThat(async () => {})
  t.after(() => gateway.stop())
  await gateway.start()
  assert.deepEqual([gateway.unready, said], [null, ['ready']])
})

test('a gateway that is stopped while it starts is never ready, and does not say so', async () => {
  const { gateway, said } = gatewayThat(async () => void gateway.stop())
  await gateway.start()
  await gateway.stop()
  assert.deepEqual([gateway.unready, said], ['draining', []])
})
