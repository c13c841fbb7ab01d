import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { ClientConnection } from '../../../src/edge/client/connection.ts'
import { stepsOver } from '../../help/exchange.ts'
import { request, Wire } from '../../help/raw.ts'

/** More than the system takes while nobody reads. */
const large = Buffer.alloc(16 * 1024 * 1024)

/** Makes the connection of a client whose every request is refused, with both ends of it. */
async function start(t: TestContext) {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect({ port: (server.address() as { port: number }).port, host: '127.0.0.1' })
  const client = new Wire(far)
  const [near] = (await once(server, 'connection')) as [Socket]
  t.after(() => {
    near.destroy()
    far.destroy()
    server.close()
  })
  const { plane } = stepsOver(t, [])
  return { near, client, plane, connection: new ClientConnection(near, plane, () => {}) }
}

test('nothing is read ahead of a client whose body has to wait', async t => {
  const { near } = await start(t)
  assert.equal(near.readableHighWaterMark, 0)
})

test('a drain closes a connection whose client still reads its last response, once it has all of it', async t => {
  const { near, client, connection } = await start(t)
  near.write(large)
  assert.ok(near.writableLength > 0)
  connection.drain()
  assert.equal((await client.rest()).length, large.length)
  assert.equal(await client.ending, 'FIN')
})

test('a drain between two requests that came at once leaves none of them without a response', async t => {
  const { near, client, plane, connection } = await start(t)
  near.cork()
  const { receive } = connection
  connection.receive = bytes => {
    receive.call(connection, bytes)
    plane.isDraining = true
    connection.drain()
    near.uncork()
  }
  await client.send(request('GET /1') + request('GET /2'))
  for (const connection of [null, 'close']) {
    const answer = await client.response()
    assert.deepEqual([answer.status, answer.field('connection')], [409, connection])
  }
})

test('connections share their listeners, and one that has closed is kept by its socket no longer', async t => {
  const [one, other] = [await start(t), await start(t)]
  for (const event of ['data', 'end', 'drain', 'close'])
    assert.equal(one.near.listeners(event).at(-1), other.near.listeners(event).at(-1), event)
  one.near.destroy()
  await once(one.near, 'close')
  const held = Object.getOwnPropertySymbols(one.near).map(name => (one.near as never)[name])
  assert.ok(!held.includes(one.connection as never))
  assert.ok(
    Object.getOwnPropertySymbols(other.near).some(name => (other.near as never)[name] === other.connection),
  )
})
