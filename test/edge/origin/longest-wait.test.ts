import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timeouts } from '../../../src/config/model/config.ts'
import type { TransportConfig } from '../../../src/config/model/pool-config.ts'
import { maxWait } from '../../../src/edge/origin/longest-wait.ts'
import { edgeConfig } from '../../help/edge.ts'

const timeouts: Timeouts = { connect: 5_000, handshake: 3_000, response: 0, write: 0, idle: 0, total: 0 }

test('what a request may have to wait is what it waits for, and a little more', () => {
  const waits = (
    url: string,
    transport: Partial<TransportConfig>,
    { isUpload = false, ...more }: Partial<Timeouts> & { isUpload?: boolean } = {},
  ) => {
    const config = edgeConfig([url], { transport }).zones[0]!.routes[0]!.pool!.origins[0]!
    return maxWait(config, { ...timeouts, ...more }, isUpload)
  }
  const limited = { connections: 1, queue: { size: 1, timeout: 2_000 } }
  assert.equal(waits('http://127.0.0.1', {}), 5_500)
  assert.equal(waits('https://127.0.0.1', {}), 8_500)
  assert.equal(waits('http://127.0.0.1', limited), 7_500)
  assert.equal(waits('http://127.0.0.1', limited, { isUpload: true }), 9_500)
  assert.equal(waits('https://127.0.0.1', limited), 10_500)
  assert.equal(waits('http://127.0.0.1', { connections: 1, queue: { size: 1, timeout: 0 } }), 0)
  assert.equal(waits('http://127.0.0.1', {}, { connect: 0 }), 0)
  assert.equal(waits('https://127.0.0.1', {}, { handshake: 0 }), 0)
  assert.equal(waits('http://127.0.0.1', {}, { handshake: 0 }), 5_500)
})
