// A bug of ours, wherever an event meets it, costs the one exchange that the event was for: its client is told or cut off, and everybody else goes on.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AddressBook } from '../../src/edge/resolver/address-book.ts'
import { ClientConnection } from '../../src/edge/client/connection.ts'
import { AddressGuard } from '../../src/edge/resolver/address-guard.ts'
import { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { Lease } from '../../src/edge/origin/lease.ts'
import { MemberHealth } from '../../src/pools/health.ts'
import { codeOf, type Edge, type EdgeSettings, startEdge } from '../help/edge.ts'
import { type Origin, ok, type Script, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request, type Wire } from '../help/raw.ts'
import { until } from '../help/until.ts'

const json = 'Accept: application/json'
const get = request('GET /', json)
const handshake = request(
  'GET /',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
)
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'
/** More than sockets and watermarks hold between them. */
const large = 'x'.repeat(16 * 1024 * 1024)
/** So much of a body that its origin is asked. */
const begun = 'x'.repeat(100_000)

type Class = { readonly prototype: object }

/** Has the next call of a method fail, as a bug in it would. */
function plant<C extends Class>(t: TestContext, where: C, method: string): { readonly hits: () => number } {
  const planted = t.mock.method(where.prototype as Record<string, () => void>, method, () => {
    planted.mock.restore()
    hits++
    throw new RangeError('planted')
  })
  let hits = 0
  return { hits: () => hits }
}

/** What a client can wait for. */
interface Surroundings {
  readonly origin: Origin
  /** Waits until the origin has something of the request. */
  asked(): Promise<void>
  /** Waits until one side was asked to let the other one read. */
  stalled(): Promise<void>
}

interface Row {
  readonly event: string
  readonly origin: Script
  readonly method: readonly [Class, string]
  /** Sends the request, and does what brings the event about once the bug is planted. */
  readonly client: (wire: Wire, plant: () => void, by: Surroundings) => Promise<unknown>
  readonly settings?: EdgeSettings
}

const readThenSend =
  (answer: string): Script =>
  async wire => {
    await wire.request()
    await wire.send(answer)
  }

const plantAndSend: Row['client'] = (wire, plant) => {
  plant()
  return wire.send(get)
}

const rows: Row[] = [
  {
    event: "'data' of an origin",
    origin: readThenSend(ok()),
    method: [MemberHealth, 'responded'],
    client: plantAndSend,
  },
  {
    event: "'end' of an origin",
    origin: readThenSend('HTTP/1.1 200 OK\r\n\r\n'),
    method: [MemberHealth, 'succeeded'],
    client: plantAndSend,
  },
  {
    event: "'error' of an origin",
    origin: async wire => {
      await wire.request()
      wire.reset()
    },
    method: [MemberHealth, 'released'],
    client: plantAndSend,
  },
  {
    event: "'end' of an origin in mid-answer",
    origin: readThenSend('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    method: [MemberHealth, 'released'],
    client: plantAndSend,
  },
  {
    event: "'drain' of an origin",
    origin: wire => wire.ending,
    method: [ClientConnection, 'readBody'],
    client: async (wire, plant, { origin, asked, stalled }) => {
      await wire.send(`${request('POST /', `Content-Length: ${large.length}`)}${begun}`)
      await asked()
      origin.wires[0]!.socket.pause()
      wire.socket.write(large.slice(begun.length))
      await stalled()
      plant()
      origin.wires[0]!.socket.resume()
    },
  },
  {
    event: "'drain' of a client",
    origin: readThenSend(ok(large)),
    method: [Lease, 'resume'],
    client: async (wire, plant, { stalled }) => {
      await wire.send(get)
      wire.socket.pause()
      await stalled()
      plant()
      wire.socket.resume()
    },
  },
  {
    event: "'close' of a client",
    origin: wire => wire.ending,
    method: [MemberHealth, 'released'],
    client: async (wire, plant, { asked }) => {
      await wire.send(get)
      await asked()
      plant()
      wire.reset()
    },
  },
  {
    event: "'end' of a client",
    origin: wire => wire.ending,
    method: [MemberHealth, 'released'],
    client: async (wire, plant, { asked }) => {
      await wire.send(`${request('POST /', 'Transfer-Encoding: chunked')}${chunks(begun)}`)
      await asked()
      plant()
      wire.socket.end()
    },
  },
  {
    event: "'data' of a tunnel's client",
    origin: async wire => {
      await wire.head()
      await wire.send(switching)
      await wire.ending
    },
    method: [Lease, 'write'],
    client: async (wire, plant) => {
      await wire.send(handshake)
      await wire.head()
      plant()
      await wire.send('hello')
    },
  },
  {
    event: "'data' of a tunnel's origin",
    origin: async wire => {
      await wire.head()
      await wire.send(switching)
      await wire.bytes(1)
      await wire.send('hello')
      await wire.ending
    },
    method: [ClientConnection, 'write'],
    client: async (wire, plant) => {
      await wire.send(handshake)
      await wire.head()
      plant()
      await wire.send('?')
    },
  },
  {
    event: "'end' of a tunnel's origin",
    origin: async wire => {
      await wire.head()
      await wire.send(switching)
      await wire.bytes(1)
    },
    method: [ClientConnection, 'finish'],
    client: async (wire, plant) => {
      await wire.send(handshake)
      await wire.head()
      plant()
      await wire.send('?')
    },
  },
  {
    event: 'a timeout',
    origin: wire => wire.ending,
    method: [MemberHealth, 'released'],
    client: plantAndSend,
    settings: { timeouts: { response: 50 } },
  },
  {
    event: 'the setting out of a dial',
    origin: () => {},
    method: [AddressGuard, 'faultOf'],
    client: plantAndSend,
  },
]

/** Asserts that the bug is in the log, that nothing is left of its exchange, and that the next one is served. */
async function assertSurvived(edge: Edge): Promise<void> {
  await until(() => edge.metrics.clientConnections.value === 0)
  await until(() => edge.metrics.originConnections.value === 0)
  const bugs = edge.events.filter(({ err }) => (err as { message?: string })?.message === 'planted')
  assert.ok(bugs.length > 0, JSON.stringify(edge.events))
  assert.equal(edge.plane.snapshot.pools.named[0]!.members[0]!.outstanding, 0)
}

for (const { event, origin: script, method, client, settings } of rows) {
  test(`a bug in ${event} costs one exchange`, async t => {
    let isLater = false
    const origin = await startOrigin(t, wire =>
      isLater ? readThenSend(ok('later'))(wire, 0) : script(wire, 0),
    )
    const edge = await startEdge(t, [origin.url], settings)
    const wire = await edge.connect()
    let planted = { hits: () => 0 }
    const pauses = [
      t.mock.method(Lease.prototype, 'pause'),
      t.mock.method(ClientConnection.prototype, 'pauseBody'),
    ]
    const by: Surroundings = {
      origin,
      asked: async () => {
        await until(() => origin.bytesReceived > 0)
        // The client waited for the connection to be there.
        for (const { mock } of pauses) mock.resetCalls()
      },
      stalled: () => until(() => pauses.some(({ mock }) => mock.callCount() > 0)),
    }
    await client(wire, () => (planted = plant(t, ...method)), by)
    await until(() => planted.hits() === 1)
    // The exchange is over by now, or its client is told; one that keeps its connection leaves it.
    await Promise.race([wire.ending, until(() => edge.accesses.length > 0)])
    wire.leave()
    await assertSurvived(edge)
    isLater = true
    const after = await edge.ask(request('GET /', 'Connection: close'))
    assert.equal(after.text, 'later')
  })
}

test('a bug after the head of a response cuts it, and one before it is 500', async t => {
  const origin = await startResponder(t, ok('whole'))
  const edge = await startEdge(t, [origin.url])
  plant(t, MemberHealth, 'responded')
  assert.equal(codeOf(await edge.ask(get)), 500)
  assert.equal((await edge.ask(get)).text, 'whole')
})

test('a bug after a connection was returned does not affect who uses it by then', async t => {
  const { promise: queued, resolve: queue } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target }) => {
    if (target === '/first') await queued
    return ok(target)
  })
  const edge = await startEdge(t, [origin.url], {
    transport: { connections: 1, queue: { size: 1, timeout: 5_000 } },
  })
  const first = edge.ask(request('GET /first')).catch(() => 'cut off')
  await until(() => origin.requests.length === 1)
  const second = edge.ask(request('GET /second'))
  await until(() => edge.metrics.originQueue.value === 1)
  plant(t, ClientConnection, 'finish')
  queue()
  await first
  assert.equal((await second).text, '/second')
  assert.equal(origin.wires.length, 1)
})

test('a bug in the record of an exchange leaves the response complete and its connection open', async t => {
  const origin = await startResponder(t, ok('whole'))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  t.mock.method(edge.metrics.phases.wait, 'observe', () => {
    throw new RangeError('planted')
  })
  for (let i = 0; i < 2; i++) {
    await client.send(get)
    assert.equal((await client.response()).text, 'whole')
  }
  assert.equal(edge.events.length, 2)
})

test('a bug after a lookup fails the requests that wait for it', async t => {
  const lookup = new NameLookup({ system: async () => ['127.0.0.1'] })
  const origin = await startResponder(t, ok('found'))
  const edge = await startEdge(t, [`http://origin.test:${origin.port}`], { lookup })
  const planted = plant(t, AddressBook, 'inTurn')
  assert.equal(codeOf(await edge.ask(get)), 500)
  assert.equal(planted.hits(), 1)
  assert.equal((await edge.ask(get)).text, 'found')
})

test('a client that cannot be accepted is disconnected', async t => {
  const origin = await startResponder(t, ok('taken'))
  const edge = await startEdge(t, [origin.url])
  const { snapshot } = edge.plane
  const planted = t.mock.method(snapshot.trusted, 'has', () => {
    throw new RangeError('planted')
  })
  await (await edge.connect()).ending
  planted.mock.restore()
  assert.equal((await edge.ask(get)).text, 'taken')
  assert.equal(edge.events.length, 1)
})
