// Large bodies: whole, both ways, and never held in memory for somebody who does not read.

import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { BodyReader } from '../../src/http1/body/body.ts'
import { startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const MiB = 1024 * 1024
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

const size = thorough(16, 4)

test(`${size} MiB go up whole, with a length and chunked`, async t => {
  const origin = await startResponder(t, ({ body }) => ok(sha256(body)))
  const edge = await startEdge(t, [origin.url])
  const body = randomBytes(size * MiB)
  const client = await edge.connect()
  await client.send(request('POST /', `Content-Length: ${body.length}`))
  await client.send(body)
  assert.equal((await client.response()).text, sha256(body))
  await client.send(request('POST /', 'Transfer-Encoding: chunked'))
  for (let at = 0; at < body.length; at += 700_001) {
    const piece = body.subarray(at, at + 700_001)
    await client.send(`${piece.length.toString(16)}\r\n`)
    await client.send(piece)
    await client.send('\r\n')
  }
  await client.send('0\r\n\r\n')
  assert.equal((await client.response()).text, sha256(body))
})

test('uploads at the same time do not mix, however much of them waits', async t => {
  const origin = await startResponder(t, ({ body }) => ok(sha256(body)))
  const edge = await startEdge(t, [origin.url])
  const upload = async () => {
    const body = randomBytes(8 * MiB)
    const client = await edge.connect()
    await client.send(request('POST /', `Content-Length: ${body.length}`))
    for (let at = 0; at < body.length; at += 300_007) await client.send(body.subarray(at, at + 300_007))
    assert.equal((await client.response()).text, sha256(body))
  }
  await Promise.all([upload(), upload(), upload(), upload()])
})

test('a hundred thousand chunks of a byte all arrive, some thousand per turn', async t => {
  const origin = await startResponder(t, ({ body }) => ok(String(body.length)))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  // Counted by hand: a mock keeps the stack of each of these calls.
  const { next } = BodyReader.prototype
  let reads = 0
  BodyReader.prototype.next = function (...args) {
    reads++
    return next.apply(this, args)
  }
  let most = 0
  let turn = setImmediate(function look() {
    most = Math.max(most, reads)
    reads = 0
    turn = setImmediate(look)
  })
  t.after(() => {
    clearImmediate(turn)
    BodyReader.prototype.next = next
  })
  const text = `${request('POST /', 'Transfer-Encoding: chunked')}${'1\r\na\r\n'.repeat(100_000)}0\r\n\r\n`
  await Promise.all([client.send(text), client.response().then(({ text }) => assert.equal(text, '100000'))])
  assert.ok(most <= 5_000, `${most} in one turn`)
})

test(`${size} MiB come down whole, with a length, chunked and to the end of the connection`, async t => {
  const body = randomBytes(size * MiB)
  const origin = await startResponder(t, async ({ target }, wire) => {
    if (target === '/length') await wire.send(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
    else if (target === '/chunked')
      await wire.send(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n`)
    else await wire.send('HTTP/1.1 200 OK\r\n\r\n')
    await wire.send(body)
    if (target === '/chunked') await wire.send('\r\n0\r\n\r\n')
    if (target === '/close') wire.finish()
    return undefined
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  for (const target of ['/length', '/chunked', '/close']) {
    await client.send(request(`GET ${target}`))
    assert.equal(sha256((await client.response()).body), sha256(body), target)
  }
})

test('a client that does not read stops its origin, and gets the rest when it reads again', async t => {
  const { promise: poured, resolve } = Promise.withResolvers<number>()
  const origin = await startOrigin(t, async wire => {
    await wire.request()
    await wire.send('HTTP/1.1 200 OK\r\n\r\n')
    resolve(await wire.pour())
    wire.finish()
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(request('GET /'))
  client.socket.pause()
  const length = await poured
  assert.ok(length < 64 * MiB, `the origin could send ${length} bytes`)
  client.socket.resume()
  assert.equal((await client.response()).body.length, length)
})

test('an origin that does not read stops its client, and gets the rest when it reads again', async t => {
  const { promise: resumed, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    const message = await wire.head()
    wire.socket.pause()
    await resumed
    wire.socket.resume()
    await wire.body(message, false)
    await wire.send(ok(String(message.body.length)))
  })
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  const whole = 48 * MiB
  await client.send(request('POST /', `Content-Length: ${whole}`))
  const length = await client.pour()
  assert.ok(length < whole, `the client could send ${length} bytes`)
  resolve()
  await client.send(Buffer.alloc(whole - length))
  assert.equal((await client.response()).text, String(whole))
})

test('a client whose upload was held back at its last byte can send its next request', async t => {
  const origin = await startOrigin(t, async (wire, nth) => {
    const message = await wire.head()
    wire.socket.pause()
    if (nth === 0) await wire.ending
    setTimeout(() => wire.socket.resume(), 50)
    await wire.body(message, false)
    await wire.send(ok(String(message.body.length)))
    await wire.send(ok((await wire.request()).target))
  })
  const edge = await startEdge(t, [origin.url], { timeouts: { write: 500 } })
  const stalled = await edge.connect()
  await stalled.send(request('POST /', `Content-Length: ${64 * MiB}`))
  void stalled.pour()
  assert.equal((await stalled.response()).status, 524)
  // This is how much passes before the gateway holds a client back.
  const capacity = Number(edge.accesses[0]!.bytes_in)
  for (const length of [capacity - 65_536, capacity, capacity + 65_536]) {
    const client = await edge.connect()
    await client.send(request('POST /', `Content-Length: ${length}`))
    await client.send(Buffer.alloc(length))
    assert.equal((await client.response()).text, String(length))
    await client.send(request('GET /next'))
    assert.equal((await client.response()).text, '/next')
    client.leave()
    origin.wires.at(-1)!.leave()
  }
})
