import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { readNothingAhead } from '../../../src/net/socket/read-ahead.ts'
import { ownBytes, partInPlace, readInPlace, unsharedBytes } from '../../../src/net/socket/shared-reads.ts'
import { until } from '../../help/until.ts'

/** A client, and the socket of its server with what it has read. */
async function start(t: TestContext) {
  const server = createServer({ noDelay: true, allowHalfOpen: true })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.after(() => server.close())
  const { port } = server.address() as { port: number }
  const client = connect({ port, host: '127.0.0.1', noDelay: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.after(() => client.destroy())
  t.after(() => socket.destroy())
  const inPlace: Buffer[] = []
  const events: string[] = []
  readNothingAhead(socket)
  readInPlace(socket, { receive: bytes => void inPlace.push(bytes) })
  socket.on('data', (bytes: Buffer) => void events.push(bytes.toString()))
  socket.on('end', () => void events.push('end'))
  const read = () => inPlace.map(String).join('')
  return { client, socket, inPlace, events, read }
}

test('small reads of all sockets lie in the same memory, and their own bytes elsewhere', async t => {
  const [one, two] = [await start(t), await start(t)]
  one.client.write('first')
  await until(() => one.inPlace.length === 1)
  const copy = ownBytes(one.inPlace[0]!)
  notEqual(copy, one.inPlace[0])
  equal(ownBytes(copy), copy)
  two.client.write('other')
  await until(() => two.inPlace.length === 1)
  deepEqual([`${one.inPlace[0]}`, `${copy}`], ['other', 'first'])
  equal(two.inPlace[0], one.inPlace[0])
})

test('a part of a small read lies in the same memory, in a view that serves again', async t => {
  const { client, inPlace } = await start(t)
  const parts: Buffer[] = []
  for (const text of ['5;first', '5;other', '14;other lengths', '2;so']) {
    client.write(text)
    await until(() => inPlace.length > parts.length)
    const bytes = inPlace.at(-1)!
    const part = partInPlace(bytes, text.indexOf(';') + 1, bytes.length)
    equal(`${part}`, text.slice(text.indexOf(';') + 1))
    equal(part.buffer, bytes.buffer)
    parts.push(part)
  }
  equal(parts[0], parts[1])
})

test('a part of any bytes is what lies there', () => {
  const bytes = Buffer.from('0123456789')
  equal(partInPlace(bytes, 0, 10), bytes)
  equal(`${partInPlace(bytes, 2, 5)}`, '234')
  equal(`${partInPlace(bytes.subarray(4), 1, 3)}`, '56')
})

test('what is read while paused comes as an event, before what follows', async t => {
  const { client, socket, events, read } = await start(t)
  client.write('a')
  await until(() => read() === 'a')
  socket.pause()
  client.write('b')
  await until(() => socket.readableLength === 1)
  client.write('c')
  socket.resume()
  await until(() => events.length === 1 && socket.bytesRead === 3)
  deepEqual([events, read().slice(-1)], [['b'], 'c'])
})

test('the end of a stream comes as an event', async t => {
  const { client, events, read } = await start(t)
  client.end('last')
  await until(() => events.length === 1)
  deepEqual([read(), events], ['last', ['end']])
})

test('a connection that is reset fails', async t => {
  const { client, socket } = await start(t)
  const failed = once(socket, 'error')
  client.resetAndDestroy()
  const [error] = (await failed) as [NodeJS.ErrnoException]
  equal(error.code, 'ECONNRESET')
})

test('a large body is read into buffers of its own after its first piece', async t => {
  const { client, socket, inPlace } = await start(t)
  const body = Buffer.from(Array.from({ length: 500_000 }, (_, i) => i % 251))
  const pieces: Buffer[] = []
  let copied = 0
  inPlace.push = (bytes: Buffer) => {
    const own = ownBytes(bytes)
    if (own !== bytes) copied += bytes.length
    return pieces.push(own)
  }
  client.write(body)
  await until(() => socket.bytesRead === body.length)
  ok(Buffer.concat(pieces).equals(body))
  ok(copied < body.length / 2, `${copied} bytes copied`)
  client.write('small')
  await until(() => socket.bytesRead === body.length + 5)
  client.write('again')
  await until(() => socket.bytesRead === body.length + 10)
  equal(pieces.slice(-2).join(), 'small,again')
})

test('a large body of which nothing is kept is read into one buffer, which serves other sockets next', async t => {
  const [one, two] = [await start(t), await start(t)]
  const buffers = new Set<ArrayBufferLike>()
  const send = async ({ client, socket, inPlace }: Awaited<ReturnType<typeof start>>, letter: string) => {
    const body = letter.repeat(1_000_000)
    let received = 0
    inPlace.push = (bytes: Buffer) => {
      ok(bytes.equals(Buffer.alloc(bytes.length, letter)))
      buffers.add(bytes.buffer)
      return (received += bytes.length)
    }
    client.write(body)
    await until(() => received === body.length)
    received = 0
    client.write(letter)
    await until(() => received === 1 && socket.bytesRead === body.length + 1)
  }
  await send(one, 'a')
  await send(two, 'b')
  // That of all sockets is the other one.
  equal(buffers.size, 2)
})

test('bytes that are kept late are not overwritten', async t => {
  const { client, socket, inPlace } = await start(t)
  const body = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251))
  const pieces: Buffer[] = []
  inPlace.push = (bytes: Buffer) => {
    const unshared = unsharedBytes(bytes)
    const isLent = unshared === bytes && pieces.length % 3 > 0
    return pieces.push(isLent ? Buffer.from(bytes) : ownBytes(unshared))
  }
  client.write(body)
  await until(() => socket.bytesRead === body.length)
  ok(Buffer.concat(pieces).equals(body))
})
