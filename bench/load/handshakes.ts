// Makes TLS handshakes with a server, as many as it can in some seconds, each on a connection of its own: node bench/load/handshakes.ts PORT SECONDS full|resumed
import { once } from 'node:events'
import { openSync, writeSync } from 'node:fs'
import { createSecureContext, connect, type TLSSocket } from 'node:tls'
import { percentile } from './statistics.ts'

/** Handshakes that are under way at once. */
const atOnce = 16

/** Milliseconds behind which a server may close a connection on which nothing comes. */
const longPause = 1_000

/** What both sides agree on, so that servers with other preferences do the same work. */
const context = createSecureContext({ maxVersion: 'TLSv1.3', ecdhCurve: 'X25519:P-256' })

const [port, seconds, kind] = process.argv.slice(2)
const session = kind === 'resumed' ? await newSession() : undefined
const began = performance.now()
let end = began + Number(seconds) * 1000
process.on('SIGINT', () => {
  end = 0
})
const times: number[] = []
/** Where COUNTER names a file, a double in it counts the handshakes for whoever reads it. */
const file = process.env.COUNTER === undefined ? -1 : openSync(process.env.COUNTER, 'r+')
const counter = file < 0 ? null : new DataView(new ArrayBuffer(8))
let other = 0
await Promise.all(Array.from({ length: atOnce }, repeat))
const result = {
  requests: times.length,
  seconds: (performance.now() - began) / 1000,
  p50: percentile(times, 50),
  p99: percentile(times, 99),
  // Those of the other kind.
  refused: other,
  broken: 0,
  late: 0,
}
console.log(JSON.stringify(result))

async function repeat(): Promise<void> {
  while (performance.now() < end) {
    const started = performance.now()
    try {
      await visit(started)
    } catch (error) {
      // Servers give up on those that a pause of the load has interrupted.
      if (performance.now() - started < longPause) throw error
    }
  }
}

async function visit(started: number): Promise<void> {
  const socket = await shakeHands(session)
  times.push(performance.now() - started)
  counter?.setFloat64(0, times.length, true)
  if (counter) writeSync(file, counter, 0, 8, 0)
  if (socket.isSessionReused() !== (session !== undefined)) other++
  const closed = once(socket, 'close')
  socket.resume().end()
  await closed
}

async function shakeHands(session?: Buffer): Promise<TLSSocket> {
  const where = { host: '127.0.0.1', port: Number(port), servername: '' }
  const socket = connect({
    ...where,
    secureContext: context,
    rejectUnauthorized: false,
    ...(session && { session }),
  })
  await once(socket, 'secureConnect')
  return socket
}

/** A server sends it behind its handshake. */
async function newSession(): Promise<Buffer> {
  const socket = await shakeHands()
  const [made] = (await once(socket, 'session')) as [Buffer]
  socket.destroy()
  return made
}
