// A paused socket is read no further than its first piece.

import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { readNothingAhead } from '../../../src/net/socket/read-ahead.ts'
import { until } from '../../help/until.ts'

test('one piece of a paused socket is read, and the rest once it resumes', async t => {
  const server = createServer({ noDelay: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const client = connect({ port, host: '127.0.0.1', noDelay: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(() => client.destroy())
  readNothingAhead(socket)
  let received = ''
  socket.on('data', bytes => {
    received += bytes.toString('latin1')
  })
  client.write('a')
  await until(() => received === 'a')
  socket.pause()
  for (const piece of 'bcdefgh') {
    client.write(piece)
    await passAround(port, server)
  }
  assert.equal(socket.readableLength, 1)
  assert.equal(socket.bytesRead, 2)
  socket.resume()
  await until(() => received === 'abcdefgh')
})

/** Has the event loop accept and read another connection, so that it has read whatever came before. */
async function passAround(port: number, server: ReturnType<typeof createServer>): Promise<void> {
  const accepted = once(server, 'connection')
  const other = connect(port, '127.0.0.1')
  const [socket] = (await accepted) as [Socket]
  other.end('x')
  await once(socket, 'data')
  socket.destroy()
}

test('a read plans no tick to look for more', async t => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const client = connect((server.address() as { port: number }).port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(() => client.destroy())
  readNothingAhead(socket)
  const pieces = countOf(socket)
  client.write('x')
  await until(() => pieces.value > 0)
  let ticks = 0
  const ticking = createHook({ init: (_, type) => void (type === 'TickObject' && ticks++) }).enable()
  t.after(() => ticking.disable())
  for (let i = 0; i < 20; i++) {
    const before = pieces.value
    client.write('x')
    while (pieces.value === before) await setImmediate()
  }
  assert.equal(ticks, 0)
})

function countOf(socket: Socket): { value: number } {
  const count = { value: 0 }
  socket.on('data', () => void count.value++)
  return count
}
