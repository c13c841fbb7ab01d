// What it costs to pass on the bytes of WebSockets, in CPU time of the gateway: node bench/load/tunnel.ts [ROOT …]. Of several source trees each takes its
// turn in every round.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { freePort } from '../../test/help/free-port.ts'
import { launch } from './launch.ts'
import { ROOT } from './installed.ts'
import { gatehouse } from './peers/gatehouse.ts'
import { cpuTime } from './proc.ts'

const ROUNDS = 7
const SOCKETS = 8
const HANDSHAKE =
  'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'
const SWITCHED =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

interface Load {
  readonly name: string
  /** Bytes of one message, and of what is written at once. */
  readonly message: number
  readonly write: number
  /** Bytes in all, over all sockets. */
  readonly total: number
}

const loads: readonly Load[] = [
  { name: 'messages of 32 bytes, one a packet, there and back', message: 32, write: 32, total: 2_000_000 },
  { name: 'messages of 32 bytes, as many as fit', message: 32, write: 65_536, total: 1_000_000_000 },
  { name: 'messages of 1,000 bytes, as many as fit', message: 1_000, write: 65_536, total: 1_000_000_000 },
  { name: 'messages of 1 MiB', message: 2 ** 20, write: 2 ** 20, total: 2_000_000_000 },
]

const roots = process.argv.length > 2 ? process.argv.slice(2) : [ROOT]
const waiting: ((socket: Socket) => void)[] = []
const server = createServer({ noDelay: true }, socket => {
  socket.on('error', () => {})
  // What a launch asks to see whether all is up is no handshake.
  socket.once('data', bytes =>
    bytes.includes('websocket')
      ? socket.write(SWITCHED, () => waiting.shift()!(socket))
      : socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'),
  )
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const origin = (server.address() as AddressInfo).port

for (const load of loads) {
  const costs = roots.map((): number[] => [])
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, root] of roots.entries()) costs[i]!.push(await measure(root, load, `${round}-${i}`))
  for (const [i, root] of roots.entries()) report(load, root, costs[i]!)
}
process.exit(0)

async function measure(root: string, load: Load, name: string): Promise<number> {
  const port = await freePort()
  const gateway = await launch(
    `tunnel-${name}`,
    port,
    await gatehouse('gatehouse', { root }).prepare(port, origin),
  )
  try {
    const pairs: [Socket, Socket][] = []
    for (let i = 0; i < SOCKETS; i++) pairs.push(await open(port))
    await passAll(pairs, load, load.total / 4)
    const before = cpuTime(gateway.pid)
    await passAll(pairs, load, load.total)
    const cost = cpuTime(gateway.pid) - before
    for (const [client] of pairs) client.destroy()
    return cost
  } finally {
    await gateway.stop()
  }
}

async function open(port: number): Promise<[Socket, Socket]> {
  const { promise, resolve } = Promise.withResolvers<Socket>()
  waiting.push(resolve)
  const client = connect({ port, host: '127.0.0.1', noDelay: true })
  client.on('error', () => {})
  client.write(HANDSHAKE)
  const [, peer] = await Promise.all([once(client, 'data'), promise])
  return [client, peer]
}

async function passAll(pairs: readonly [Socket, Socket][], load: Load, total: number): Promise<void> {
  await Promise.all(pairs.map(([client, peer]) => pass(client, peer, load, total / pairs.length)))
}

/** Passes bytes from the origin to the client, or one message at a time there and back. */
async function pass(client: Socket, peer: Socket, { message, write }: Load, total: number): Promise<void> {
  const down = framesOf(message, write, false)
  const done = Promise.withResolvers<void>()
  client.removeAllListeners('data')
  peer.removeAllListeners('data').removeAllListeners('drain')
  if (write === message && message < 1_000) {
    const up = framesOf(message, write, true)
    let left = total
    peer.on('data', () => peer.write(down))
    client.on('data', () => ((left -= message) > 0 ? client.write(up) : done.resolve()))
    client.write(up)
    return done.promise
  }
  let received = 0
  let sent = 0
  const pump = () => {
    while (sent < total) {
      sent += down.length
      if (!peer.write(down)) return
    }
  }
  client.on('data', bytes => {
    received += bytes.length
    if (received >= sent && sent >= total) done.resolve()
  })
  peer.resume().on('drain', pump)
  pump()
  return done.promise
}

/** Returns as many whole frames as fit, at least one. */
function framesOf(size: number, room: number, isMasked: boolean): Buffer {
  const extended = size < 126 ? 0 : size < 65_536 ? 2 : 8
  const head = Buffer.alloc(2 + extended + (isMasked ? 4 : 0))
  head[0] = 0x82
  head[1] = (isMasked ? 0x80 : 0) | (extended === 0 ? size : extended === 2 ? 126 : 127)
  if (extended === 2) head.writeUInt16BE(size, 2)
  if (extended === 8) head.writeBigUInt64BE(BigInt(size), 2)
  const one = Buffer.concat([head, Buffer.alloc(size)])
  return Buffer.concat(Array(Math.max(1, Math.floor(room / one.length))).fill(one))
}

function report({ name, message, total }: Load, root: string, costs: number[]): void {
  const sorted = costs.toSorted((a, b) => a - b)
  const median = sorted[sorted.length >> 1]!
  const each = total / message
  const perMessage = `${((median * 1_000) / each).toFixed(0)} ns a message`
  const perMB = `${(median / (total / 1e6)).toFixed(1)} µs a MB`
  console.log(`${name}: ${perMessage}, ${perMB} (least ${(sorted[0]! / (total / 1e6)).toFixed(1)}) ${root}`)
}
