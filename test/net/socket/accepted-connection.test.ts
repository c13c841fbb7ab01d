// Connections that are kept from a server: nothing is read of them, until they are served as all others or closed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type AcceptedConnection, screen } from '../../../src/net/socket/accepted-connection.ts'
import { until } from '../../help/until.ts'

async function listen(t: TestContext, host = '127.0.0.1') {
  const server = createServer().listen(0, host)
  await once(server, 'listening')
  t.after(() => server.close())
  const held: AcceptedConnection[] = []
  screen(server, connection => held.push(connection) > 0)
  return { server, held }
}

function join(t: TestContext, server: Server, from = '127.0.0.1'): Socket {
  const { port, family } = server.address() as AddressInfo
  const host = family === 'IPv6' ? '::1' : '127.0.0.1'
  const socket = connect({ host, port, localAddress: from })
  t.after(() => socket.destroy())
  return socket.on('error', () => {})
}

test('a connection that is held knows its client, and is served later with all that was sent', async t => {
  const { server, held } = await listen(t)
  join(t, server, '127.0.0.2').write('hello')
  await until(() => held.length === 1)
  assert.equal(held[0]!.peer, '127.0.0.2')
  assert.ok(held[0]!.descriptor > 2)
  const connected = once(server, 'connection')
  held[0]!.serve()
  const [served] = (await connected) as [Socket]
  t.after(() => served.destroy())
  assert.equal(String((await once(served, 'data'))[0]), 'hello')
  assert.equal(served.remoteAddress, '127.0.0.2')
})

test('one that was held is served also where its server listens no more', async t => {
  const { server, held } = await listen(t)
  const client = join(t, server)
  await until(() => held.length === 1)
  server.close()
  const connected = once(server, 'connection')
  held[0]!.serve()
  const [served] = (await connected) as [Socket]
  served.end('bye')
  assert.equal(String((await once(client, 'data'))[0]), 'bye')
  served.destroy()
})

test('one that is reset was never served, and its client sees that', async t => {
  const { server, held } = await listen(t)
  server.on('connection', () => assert.fail('served'))
  const client = join(t, server)
  await until(() => held.length === 1)
  const failed = once(client, 'error')
  held[0]!.reset()
  assert.equal((await failed)[0].code, 'ECONNRESET')
  await until(() => held[0]!.peer === '')
})

test('connections that are not held are served at once', async t => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const seen: string[] = []
  screen(server, ({ peer }) => seen.push(peer) === 0)
  const connected = once(server, 'connection')
  join(t, server)
  const [served] = (await connected) as [Socket]
  served.destroy()
  assert.deepEqual(seen, ['127.0.0.1'])
})
