import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { noTimes } from '../../../src/edge/origin/connection-queue.ts'
import { OriginConnection } from '../../../src/edge/origin/origin-connection.ts'
import { forbidViolations } from '../../help/invariants.ts'
import { Ignoring } from '../../help/response-handler.ts'
import { until } from '../../help/until.ts'

/** Makes an open connection with both ends of it; `told` is what its owner hears. */
async function start(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const near = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1' })
  const [far] = (await once(server, 'connection')) as [Socket]
  far.on('error', () => {})
  t.after(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  forbidViolations(t)
  const told: string[] = []
  const owner = {
    target: {},
    returned: () => void told.push('returned'),
    closed: () => void told.push('closed'),
    pinned: () => void told.push('pinned'),
    hasRefused: () => false,
    crashed: assert.ifError,
  }
  const connection = new OriginConnection(owner, near, { times: noTimes, address: '127.0.0.1' })
  return { near, far, told, connection }
}

test('a connection that nothing is left on is returned', async t => {
  const { told, connection } = await start(t)
  connection.lend(new Ignoring()).giveBack()
  assert.deepEqual(told, ['returned'])
})

test('nothing is read ahead of an origin whose response has to wait', async t => {
  const { near } = await start(t)
  assert.equal(near.readableHighWaterMark, 0)
})

test('a connection with bytes that were received and not read is closed in place of a return', async t => {
  const { near, far, told, connection } = await start(t)
  const lease = connection.lend(new Ignoring())
  lease.pause()
  far.write('HTTP/1.1 200 OK\r\n\r\n')
  await until(() => near.readableLength > 0)
  lease.giveBack()
  assert.deepEqual(told, ['closed'])
})

test('a connection with bytes that were written and not sent is closed in place of a return', async t => {
  const { told, connection } = await start(t)
  const lease = connection.lend(new Ignoring())
  lease.cork()
  lease.write('the rest of a body')
  lease.giveBack()
  assert.deepEqual(told, ['closed'])
})

test('a connection to an address that its name has no longer is closed in place of a return', async t => {
  const { told, connection } = await start(t)
  const lease = connection.lend(new Ignoring())
  connection.isOutdated = true
  lease.giveBack()
  assert.deepEqual(told, ['closed'])
})

test('a connection that its last user has paused is heard while it is idle', async t => {
  const { far, told, connection } = await start(t)
  const lease = connection.lend(new Ignoring())
  lease.pause()
  lease.giveBack()
  far.write('HTTP/1.1 200 OK\r\n\r\n')
  await until(() => told.length > 1)
  assert.deepEqual(told, ['returned', 'closed'])
})
