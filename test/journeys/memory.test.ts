// What a client that does not read, or sends slowly, costs the gateway in memory: the bound that docs/operations.md states.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startGateway, type RunningGateway } from '../help/gateway.ts'
import { connectTo, request, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const FIRST = 10
const CLIENTS = 60
const KiB = 1024
const LARGE = 64 * 1024 * 1024

/** Has the gateway collect its garbage at SIGURG, so that what is left is what it holds. */
const collecting = `--expose-gc --import=data:text/javascript,process.on('SIGURG',()=>gc())`

/** How many bytes origins have poured, over all tests. */
let poured = 0

/** Starts an origin that sends bytes without end to whoever asks, as fast as they are taken. */
async function startFountain(t: TestContext): Promise<Server> {
  const water = Buffer.alloc(256 * KiB)
  const server = createServer(socket => {
    const pour = () => {
      do poured += water.length
      while (socket.write(water) === true)
    }
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n`)
      socket.on('drain', pour)
      pour()
    })
    t.after(() => socket.destroy())
  })
  t.after(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function start(t: TestContext, origin: Server, more = ''): Promise<RunningGateway> {
  const { port } = origin.address() as AddressInfo
  return startGateway(
    t,
    `pools: { main: { origins: ['http://127.0.0.1:${port}'] } }\nzones: [{ hosts: [site.test], routes: [{ path: /, pool: main }] }]\n${more}`,
    { env: { NODE_OPTIONS: collecting } },
  )
}

function readMetric(metrics: string, name: string): number {
  return Number(new RegExp(`^${RegExp.escape(name)} (\\S+)$`, 'm').exec(metrics)![1])
}

/** Bytes that the gateway holds, in its heap and beside it. */
async function heldBytes(gateway: RunningGateway): Promise<number> {
  const metrics = await gateway.metrics()
  return (
    readMetric(metrics, 'nodejs_heap_size_used_bytes') + readMetric(metrics, 'nodejs_external_memory_bytes')
  )
}

/** Waits until the gateway has all of so many clients, and nothing moves any more: only then does each hold all that it will. */
async function stalled(gateway: RunningGateway, clients: number): Promise<void> {
  await until(
    async () => readMetric(await gateway.metrics(), 'gatehouse_connections_open{side="client"}') === clients,
  )
  for (let before = -1; before !== poured; ) {
    before = poured
    await sleep(1_500)
  }
}

/** Connects so many clients that send these bytes and read nothing, one after the other. */
async function crowd(
  t: TestContext,
  gateway: RunningGateway,
  clients: number,
  bytes: string,
): Promise<Wire[]> {
  const wires: Wire[] = []
  for (let i = 0; i < clients; i++) {
    const wire = await connectTo(t, Number(new URL(gateway.edge).port))
    wire.socket.pause()
    // More than is taken of them, for some.
    wire.socket.write(bytes)
    wires.push(wire)
  }
  return wires
}

/** Returns the least that the gateway holds within a while, which garbage has no part in. */
async function settled(gateway: RunningGateway): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let i = 0; i < 5; i++) {
    gateway.signal('SIGURG')
    await sleep(300)
    least = Math.min(least, await heldBytes(gateway))
  }
  return least
}

const chunk = (length: number) => `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`

/** The most that is read at a time. */
const piece = 64 * KiB
/** What a stream holds of one direction that does not go on: up to a piece it asks for another. */
const held = 2 * piece
/** Connections, requests and their timers. */
const objects = 16 * KiB

/** What clients send before they stop, and the bytes that each may cost; docs/operations.md states the most. How full the pieces are depends on how busy the machine is. */
const misdeeds: Record<string, readonly [string, bound: number]> = {
  'read nothing of a large response': [request('GET /'), held + held + objects],
  'send a body of 64 KiB but for its end': [
    `${request('POST /', 'Transfer-Encoding: chunked')}${chunk(4_096).repeat(16)}`,
    piece + held + held + objects,
  ],
  'read nothing and send requests all the time': [request('GET /').repeat(10_000), 512 * KiB],
}

for (const [what, [bytes, bound]] of Object.entries(misdeeds)) {
  test(`clients that ${what} cost a bounded amount of memory each`, async t => {
    const gateway = await start(t, await startFountain(t))
    // What the first ones cost is code and tables.
    await crowd(t, gateway, FIRST, bytes)
    await stalled(gateway, FIRST)
    const before = await settled(gateway)
    await crowd(t, gateway, CLIENTS, bytes)
    await stalled(gateway, FIRST + CLIENTS)
    let each = Number.POSITIVE_INFINITY
    // On a busy machine garbage goes late; what is held stays.
    const isBounded = async () => {
      each = Math.min(each, ((await settled(gateway)) - before) / CLIENTS)
      return each < bound
    }
    await until(isBounded).catch(() => assert.fail(`${each} bytes each`))
    t.diagnostic(`${Math.round(each / 1024)} KiB each`)
  })
}

test('a connection that is idle behind a request keeps at most 2.5 KiB in the process', async t => {
  const crowded = 'client: { connections_per_address: off, keep_alive: 1h }\n'
  const gateway = await start(t, await startFountain(t), crowded)
  const port = Number(new URL(gateway.edge).port)
  const idle = async (clients: number) => {
    for (let i = 0; i < clients; i++) {
      const wire = await connectTo(t, port)
      await wire.send(request('HEAD /cdn-cgi/error/522'))
      await wire.response('HEAD')
    }
  }
  await idle(1_000)
  let held = await settled(gateway)
  let each = Number.POSITIVE_INFINITY
  // What the process takes once, such as 2 MB for its code, counts in one of the rounds.
  for (let round = 0; round < 2; round++) {
    const before = held
    await idle(2_000)
    held = await settled(gateway)
    each = Math.min(each, (held - before) / 2_000)
  }
  const open = readMetric(await gateway.metrics(), 'gatehouse_connections_open{side="client"}')
  assert.equal(open, 5_000)
  assert.ok(each < 2.5 * KiB, `${each} bytes each`)
  t.diagnostic(`${Math.round(each)} bytes each`)
})
