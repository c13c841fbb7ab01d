// Uploads that this gateway refuses itself: the client gets the refusal, however it sends, and not the failure of its write.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect } from 'node:tls'
import { setTimeout as sleep } from 'node:timers/promises'
import { chunkText } from '../../src/http1/body/chunk.ts'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { Edge, edgeConfig, type EdgeSettings, listenAt } from '../help/edge.ts'
import { connectHttp2, open, responseTo } from '../help/http2-client.ts'
import { ok, startResponder } from '../help/origin.ts'
import { connectTo, request } from '../help/raw.ts'

const kib = 1024
const mib = 1024 * kib

/** How clients send a body. */
interface Way {
  readonly clients: number
  readonly size: number
  /** Whether it reads nothing before it has written all. */
  readonly writesFirst: boolean
  /** Ms between two of its pieces, 0 for none. */
  readonly pause: number
}

const ways: readonly Way[] = [
  { clients: 3, size: 2 * mib, writesFirst: false, pause: 0 },
  // More than the kernel holds.
  { clients: 1, size: 16 * mib, writesFirst: false, pause: 0 },
  { clients: 3, size: 2 * mib, writesFirst: true, pause: 0 },
  { clients: 1, size: 16 * mib, writesFirst: true, pause: 0 },
  // Longer than a client that sends nothing is waited for.
  { clients: 3, size: 2 * mib, writesFirst: true, pause: 500 },
]

async function start(t: TestContext, tls: boolean, settings: EdgeSettings = {}): Promise<Edge> {
  const origin = await startResponder(t, () => ok())
  const { key, cert } = selfSigned('site.test')
  const config = {
    ...edgeConfig([origin.url], { h2c: true, route: { bodyLimit: 64 * kib }, ...settings }),
    ...(tls && {
      listen: [{ host: '127.0.0.1', port: 0, tls }],
      tls: { certificates: [{ certificate: cert, key }], minVersion: 'TLSv1.3' } as const,
    }),
  }
  return listenAt(t, new Edge(t, config))
}

async function connectPlainOrTls(t: TestContext, { port }: Edge, tls: boolean): Promise<Socket> {
  const { socket } = await connectTo(t, port)
  if (!tls) return socket
  socket.removeAllListeners('data')
  const options = { socket, rejectUnauthorized: false, servername: 'site.test', allowHalfOpen: true }
  const secured = connect(options as ConnectionOptions)
  await once(secured, 'secureConnect')
  return secured
}

/** Splits a body into the pieces of a client, ten where it pauses. */
function piecesOf({ size, pause }: Way): Buffer[] {
  const count = pause === 0 ? 1 : 10
  return Array.from({ length: count }, () => Buffer.alloc(size / count))
}

async function uploadByHttp1(t: TestContext, edge: Edge, tls: boolean, way: Way, chunked: boolean) {
  const socket = await connectPlainOrTls(t, edge, tls)
  let text = ''
  let failure = ''
  socket.removeAllListeners('data')
  socket.on('error', (error: NodeJS.ErrnoException) => {
    failure = error.code ?? 'error'
  })
  const read = () => socket.on('data', bytes => (text += bytes.toString('latin1')))
  if (!way.writesFirst) read()
  else socket.pause()
  socket.write(request('POST /', chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${way.size}`))
  for (const piece of piecesOf(way)) {
    await new Promise<unknown>(resolve => socket.write(chunked ? chunkText(piece) : piece, resolve))
    await sleep(way.pause)
  }
  if (chunked) socket.write('0\r\n\r\n')
  if (way.writesFirst) read().resume()
  if (!socket.readableEnded && !socket.destroyed)
    await Promise.race([once(socket, 'end'), once(socket, 'close')]).catch(() => {})
  socket.destroy()
  return `${/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 'nothing'}${failure && ` and ${failure}`}`
}

async function uploadByHttp2(t: TestContext, edge: Edge, tls: boolean, way: Way, chunked: boolean) {
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${edge.port}`
  const session = await connectHttp2(t, url, {
    maxSessionMemory: 64,
    rejectUnauthorized: false,
    servername: 'site.test',
  })
  const length = chunked ? {} : { 'content-length': String(way.size) }
  const stream = open(session, { ':method': 'POST', ...length }, false)
  const response = responseTo(stream)
  for (const piece of piecesOf(way)) {
    if (!stream.writable) break
    await new Promise<unknown>(resolve => stream.write(piece, resolve))
    await sleep(way.pause)
  }
  stream.end()
  const { status, code } = await response
  session.destroy()
  return `${status}${code === 0 ? '' : ` and code ${code}`}`
}

for (const tls of [false, true])
  for (const version of ['1.1', '2'])
    test(`all clients of HTTP/${version} over ${tls ? 'TLS' : 'TCP'} read that their uploads are too large`, async t => {
      const edge = await start(t, tls)
      for (const chunked of [false, true])
        for (const way of ways) {
          // Whoever does not read gets no window in HTTP/2.
          if (version === '2' && way.writesFirst && way.pause === 0) continue
          const upload = version === '1.1' ? uploadByHttp1 : uploadByHttp2
          const uploads = Array.from({ length: way.clients }, () => upload(t, edge, tls, way, chunked))
          const outcomes = await Promise.all(uploads)
          assert.deepEqual(outcomes, Array(way.clients).fill('413'), JSON.stringify({ ...way, chunked }))
        }
    })

test('a slow upload that an access rule refuses reads so', async t => {
  const edge = await start(t, false, { access: { otherwise: 'deny' } })
  const way = { clients: 1, size: 2 * mib, writesFirst: true, pause: 400 }
  assert.equal(await uploadByHttp1(t, edge, false, way, false), '403')
})

test('a client that goes on sending what was refused makes room for another one', async t => {
  const edge = await start(t, false, { client: { connections: 2 } })
  const uploads = [await edge.connect(), await edge.connect()]
  for (const { socket } of uploads) {
    socket.write(request('POST /', `Content-Length: ${2 * mib}`))
    await once(socket, 'end')
    socket.write(Buffer.alloc(kib))
  }
  assert.equal((await edge.ask(request('GET /', 'Connection: close'))).status, 200)
  assert.equal(edge.metrics.evictedConnections.idle.value, 1)
})
