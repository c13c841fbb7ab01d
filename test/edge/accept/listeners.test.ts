import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { backlog, handleOf } from '../../../src/net/socket/listening-socket.ts'
import { Listeners } from '../../../src/edge/accept/listeners.ts'
import { freePort } from '../../help/free-port.ts'
import { assertQueues } from '../../help/listen-queue.ts'

const free = { host: '127.0.0.1', port: 0, tls: false }

function start(t: TestContext): { readonly listeners: Listeners; readonly accepted: Socket[] } {
  const accepted: Socket[] = []
  const listeners = new Listeners({
    hold: () => false,
    accept: socket => accepted.push(socket.on('error', () => {})),
    acceptFailed: assert.fail,
  })
  t.after(() => {
    listeners.close()
    for (const socket of accepted) socket.destroy()
  })
  return { listeners, accepted }
}

/** Returns how a connection to the port ends: with data that was accepted, or the code of the error. */
async function outcomeOf(port: number): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  const { promise, resolve } = Promise.withResolvers<string>()
  socket.on('connect', () => resolve('connected'))
  socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code!))
  const outcome = await promise
  socket.destroy()
  return outcome
}

test('every endpoint is bound, with the port that the system chose', async t => {
  const { listeners } = start(t)
  const bound = await listeners.bind([free, { host: '127.0.0.2', port: 0, tls: false }], { reusePort: false })
  assert.deepEqual(
    bound.map(({ host }) => host),
    ['127.0.0.1', '127.0.0.2'],
  )
  assert.ok(bound.every(({ port }) => port > 0))
  assert.equal(await outcomeOf(bound[0]!.port), 'connected')
})

test('if one endpoint is in use, none stays bound', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  t.after(() => other.close())
  await once(other, 'listening')
  const { port: taken } = other.address() as AddressInfo
  const first = await freePort()
  const { listeners } = start(t)
  const endpoints = [
    { host: '127.0.0.1', port: first, tls: false },
    { host: '127.0.0.1', port: taken, tls: false },
  ]
  await assert.rejects(listeners.bind(endpoints, { reusePort: false }), { code: 'EADDRINUSE' })
  assert.equal(await outcomeOf(first), 'ECONNREFUSED')
})

test('a client that is connecting while the listeners close is accepted first', async t => {
  const { listeners, accepted } = start(t)
  const [endpoint] = await listeners.bind([free], { reusePort: false })
  const clients = Array.from({ length: 500 }, () => connect({ host: '127.0.0.1', port: endpoint!.port }))
  t.after(() => {
    for (const client of clients) client.destroy()
  })
  const connected = Promise.all(clients.map(client => once(client, 'connect')))
  await listeners.closeWhenQuiet()
  await connected
  assert.equal(accepted.length, 500)
  assert.equal(await outcomeOf(endpoint!.port), 'ECONNREFUSED')
})

test('a socket that was bound by another process has as long a queue as one of its own', async t => {
  const { listeners, accepted } = start(t)
  const before = createServer().listen({ port: 0, host: '127.0.0.1', backlog })
  t.after(() => before.close())
  await once(before, 'listening')
  const { port } = before.address() as AddressInfo
  await listeners.adopt(free, { listener: 0, slot: 0, isAlone: true, handle: handleOf(before) })
  await assertQueues(port, 600)
  assert.equal(accepted.length, 0)
})
