// Clients that take their time to send a body: they hold no connection to an origin before there is something to send on it, and hold nothing for long.

import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import fc from 'fast-check'
import { ManualClock, patient } from '../help/clock.ts'
import { codeOf, type Edge, startEdge } from '../help/edge.ts'
import { ok, startOrigin, startResponder } from '../help/origin.ts'
import { chunks, request } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { turnsUntil, until } from '../help/until.ts'

const json = 'Accept: application/json'
const limited = { transport: { connections: 2, queue: { size: 10, timeout: 1_000 } } }
const chunkedHead = request('POST /slow', 'Transfer-Encoding: chunked', json)
const longHead = request('POST /slow', 'Content-Length: 1000000', json)

const uploads: Record<string, string> = {
  'a head with chunks to come': chunkedHead,
  'a head and the size of a chunk': `${chunkedHead}ffff\r\n`,
  'a head with a long body to come': longHead,
  'a head and the beginning of a long body': `${longHead}${'x'.repeat(60_000)}`,
  'a head with a short body to come': request('POST /slow', 'Content-Length: 5', json),
  'a head with chunks to come, and waits to be invited': request(
    'POST /slow',
    'Transfer-Encoding: chunked',
    'Expect: 100-continue',
  ),
}

for (const [what, bytes] of Object.entries(uploads)) {
  test(`clients that send ${what} take no connection from others`, async t => {
    const origin = await startResponder(t, ok('served'))
    const edge = await startEdge(t, [origin.url], limited)
    for (let i = 0; i < 5; i++) await (await edge.connect()).send(bytes)
    assert.equal((await edge.ask(request('GET /', json))).text, 'served')
    assert.deepEqual(
      origin.requests.map(({ target }) => target),
      ['/'],
    )
    assert.equal(origin.wires.length, 1)
  })
}

test('a client that pauses in its chunks gets the response to what it has sent, and can continue', async t => {
  const clock = new ManualClock()
  const origin = await startOrigin(t, async wire => {
    await wire.head()
    await wire.send('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (const word of ['one', 'two', 'three']) {
      await wire.until(chunks(word))
      await wire.send(chunks(word.toUpperCase()))
    }
    await wire.until('0\r\n\r\n')
    await wire.send('0\r\n\r\n')
  })
  const client = { bodyRate: 500, bodyTimeout: 20_000 }
  const timeouts = { ...patient.timeouts, idle: 60_000 }
  const edge = await startEdge(t, [origin.url], { client, timeouts, clock })
  const wire = await edge.connect()
  await wire.send(chunkedHead)
  for (const word of ['one', 'two', 'three']) {
    await wire.send(chunks(word))
    const answer = wire.until(chunks(word.toUpperCase()))
    while ((await Promise.race([answer, pass(edge, clock, 1)])) === undefined);
    // Far slower than a body may be that nobody answers.
    await pass(edge, clock, 15)
  }
  await wire.send('0\r\n\r\n')
  await wire.until('0\r\n\r\n')
  assert.equal(edge.metrics.slowClients.body_rate.value, 0)
})

for (const [connections, most] of [
  [1, 0],
  [2, 1],
  [5, 2],
  [0, 100],
] as const) {
  const cap = connections === 0 ? 'any number of connections' : `${connections} connections`
  test(`of clients that pause in their chunks, ${most} reach an origin with ${cap}`, async t => {
    const origin = await startOrigin(t, wire => wire.ending)
    const transport = { connections, queue: { size: 10, timeout: 1_000 } }
    const edge = await startEdge(t, [origin.url], { transport })
    for (let i = 0; i < most + 3; i++) await (await edge.connect()).send(`${chunkedHead}${chunks('x')}`)
    const { target: pool } = edge.plane.snapshot.pools.named[0]!.members[0]!
    await until(() => pool.outstanding === most)
    await wait(700)
    assert.deepEqual([pool.outstanding, pool.queueLength], [most, 0])
  })
}

test('a small body in chunks reaches the origin as one, with its trailers', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  await client.send(chunkedHead)
  for (const piece of ['a', 'bc', 'd']) await client.send(chunks(piece))
  assert.equal(origin.wires.length, 0)
  await client.send('0\r\nX-Sum: 4\r\n\r\n')
  await client.response()
  const [received] = origin.requests
  assert.deepEqual([received!.text, received!.trailers], ['abcd', ['X-Sum: 4']])
  assert.deepEqual(
    [received!.field('transfer-encoding'), received!.field('content-length')],
    ['chunked', null],
  )
})

test('a body arrives whole, however long it is and in whatever pieces it is sent', async t => {
  const origin = await startResponder(t, ({ body }) => ok(`${body.length} ${body.readUInt8(0)}`))
  const edge = await startEdge(t, [origin.url])
  const client = await edge.connect()
  const around = (length: number) => fc.integer({ min: length - 2, max: length + 2 })
  const length = fc.oneof(fc.integer({ min: 1, max: 200_000 }), around(65_536), around(131_072))
  await fc.assert(
    fc.asyncProperty(
      fc.array(length, { minLength: 1, maxLength: 3 }),
      fc.boolean(),
      fc.array(fc.integer({ min: 1, max: 100_000 }), { maxLength: 6 }),
      async (parts, isChunked, cuts) => {
        const texts = parts.map((part, i) => String(i).repeat(part))
        const whole = texts.join('')
        const bytes = isChunked
          ? `${request('POST /', 'Transfer-Encoding: chunked')}${chunks(...texts)}0\r\n\r\n`
          : `${request('POST /', `Content-Length: ${whole.length}`)}${whole}`
        let at = 0
        for (const cut of cuts) {
          await client.send(bytes.slice(at, at + cut))
          at += cut
        }
        await client.send(bytes.slice(at))
        assert.equal((await client.response()).text, `${whole.length} 48`)
        assert.equal(origin.requests.at(-1)!.text, whole)
      },
    ),
    { numRuns: thorough(60, 20) },
  )
})

const longBody = 'x'.repeat(70_000)

for (const [what, head] of [
  ['long bodies', longHead],
  ['long bodies in chunks', `${chunkedHead}11171\r\n`],
]) {
  test(`clients that send most of ${what} leave connections to others`, async t => {
    const origin = await startResponder(t, ({ target }) => ok(target))
    const edge = await startEdge(t, [origin.url], limited)
    const { target: pool } = edge.plane.snapshot.pools.named[0]!.members[0]!
    const uploads = await Promise.all(Array.from({ length: 4 }, () => edge.connect()))
    for (const client of uploads) await client.send(head + longBody)
    await until(() => pool.outstanding === 4 && pool.queueLength === 3)
    assert.equal((await edge.ask(request('GET /other', json))).text, '/other')
    assert.equal((await edge.ask(`${request('POST /other', 'Content-Length: 5', json)}hello`)).text, '/other')
    // One that was admitted, and one that waits.
    uploads[0]!.reset()
    uploads[3]!.reset()
    await until(() => pool.queueLength === 1)
    assert.equal((await edge.ask(request('GET /other', json))).text, '/other')
    // The queue of uploads has a deadline as the other has.
    assert.equal(codeOf(await uploads[2]!.response()), 504)
    uploads[1]!.reset()
    await until(() => pool.outstanding === 0)
  })
}

test('long uploads take turns, and all arrive', async t => {
  const origin = await startResponder(t, ({ body }) => ok(String(body.length)))
  const transport = { connections: 2, queue: { size: 10, timeout: 0 } }
  const edge = await startEdge(t, [origin.url], { transport })
  const upload = async () => {
    const client = await edge.connect()
    await client.send(request('POST /', 'Content-Length: 140000') + longBody)
    await client.send(longBody)
    return (await client.response()).text
  }
  const answers = await Promise.all(Array.from({ length: 8 }, upload))
  assert.deepEqual(answers, Array(8).fill('140000'))
  assert.ok(origin.wires.length <= 2)
})

test('an upload that finds the queue full is refused', async t => {
  const origin = await startOrigin(t, wire => wire.ending)
  const transport = { connections: 2, queue: { size: 1, timeout: 0 } }
  const edge = await startEdge(t, [origin.url], { transport })
  const { target: pool } = edge.plane.snapshot.pools.named[0]!.members[0]!
  for (let i = 0; i < 2; i++) await (await edge.connect()).send(longHead + longBody)
  await until(() => pool.queueLength === 1)
  const third = await edge.connect()
  await third.send(longHead + longBody)
  assert.equal(codeOf(await third.response()), 1200)
})

const patientButForRates = { ...patient, client: { ...patient.client, bodyRate: 6_000 } }

/** Lets so many seconds pass second by second, as an edge sees them. */
async function pass(edge: Edge, clock: ManualClock, seconds: number, each = async () => {}): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1_000)
    await turnsUntil(() => edge.plane.coarseNow >= clock.now())
    await each()
  }
}

for (const [what, bytes, sentOn] of [
  ['a short body', `${request('POST /', 'Content-Length: 10000', json)}hello`, null],
  ['a long body', `${longHead}${'x'.repeat(65_537)}`, 'x'.repeat(60_000)],
  ['a body in chunks', `${chunkedHead}${chunks('hello')}`, 'hello'],
  ['a long body in chunks', `${chunkedHead}${chunks('x'.repeat(65_537))}`, 'x'.repeat(60_000)],
] as const) {
  test(`${what} that drips is 408, and the origin connection is closed`, async t => {
    const clock = new ManualClock()
    const origin = await startOrigin(t, wire => wire.ending)
    const edge = await startEdge(t, [origin.url], { ...patientButForRates, clock })
    const client = await edge.connect()
    await client.send(bytes)
    let passed = 0
    if (sentOn !== null) {
      const started = origin.wire()
      // What an edge on a busy machine reads late, it sends on later.
      for (; origin.wires.length === 0; passed++) {
        await pass(edge, clock, 1)
        await Promise.race([started, wait(500)])
      }
      await (await started).until(sentOn)
    }
    const drop = bytes.includes('chunked') ? chunks('y') : 'y'
    await pass(edge, clock, 9 - passed, () => client.send(drop))
    assert.equal(client.bytesReceived, 0)
    await pass(edge, clock, 5)
    const answer = await client.response()
    assert.deepEqual([codeOf(answer), answer.field('connection')], [408, 'close'])
    assert.deepEqual([edge.accesses[0]!.cause, edge.metrics.slowClients.body_rate.value], ['GH_BODY_RATE', 1])
    if (sentOn !== null) await origin.wires[0]!.ending
    else assert.equal(origin.wires.length, 0)
  })
}

test('a body that takes too long is 408, however steadily it arrives', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { client: { bodyTimeout: 300 } })
  const client = await edge.connect()
  await client.send(chunkedHead)
  const timer = setInterval(() => client.send(chunks('x'.repeat(1_000))), 20)
  t.after(() => clearInterval(timer))
  const answer = await client.response()
  clearInterval(timer)
  assert.deepEqual([codeOf(answer), answer.field('connection')], [408, 'close'])
  assert.deepEqual(
    [edge.accesses[0]!.cause, edge.metrics.slowClients.body_timeout.value],
    ['GH_BODY_TIMEOUT', 1],
  )
})

test('a stalled head and a stalled body are counted separately', async t => {
  const edge = await startEdge(t, ['http://127.0.0.1:1'], {
    client: { headerTimeout: 150 },
    timeouts: { idle: 150 },
  })
  for (const bytes of ['GET / HTTP/1.1\r\n', `${longHead}x`]) {
    const client = await edge.connect()
    await client.send(bytes)
    assert.equal((await client.response()).status, 408)
  }
  const { head, body_idle } = edge.metrics.slowClients
  assert.deepEqual([head.value, body_idle.value], [1, 1])
})

test('a client is not slow while its origin does not read', async t => {
  const clock = new ManualClock()
  const { promise: resumed, resolve } = Promise.withResolvers<void>()
  const origin = await startOrigin(t, async wire => {
    const message = await wire.head()
    wire.socket.pause()
    await resumed
    wire.socket.resume()
    await wire.body(message, false)
    await wire.send(ok(String(message.body.length)))
  })
  const settings = { ...patientButForRates, client: { ...patientButForRates.client, bodyTimeout: 20_000 } }
  const edge = await startEdge(t, [origin.url], { ...settings, clock })
  const client = await edge.connect()
  const whole = 32 * 1024 * 1024
  await client.send(request('POST /', `Content-Length: ${whole}`))
  const length = await client.pour()
  await pass(edge, clock, 30)
  resolve()
  await client.send(Buffer.alloc(whole - length))
  assert.equal((await client.response()).text, String(whole))
  assert.equal(edge.metrics.slowClients.body_rate.value, 0)
})

test('a client is not slow while it waits for a connection', async t => {
  const clock = new ManualClock()
  const { promise: done, resolve } = Promise.withResolvers<void>()
  const origin = await startResponder(t, async ({ target, body }) => {
    if (target === '/first') await done
    return ok(String(body.length))
  })
  const transport = { connections: 1, queue: { size: 10, timeout: 0 } }
  const edge = await startEdge(t, [origin.url], { ...patientButForRates, clock, transport })
  const first = edge.ask(request('GET /first'))
  await origin.wire()
  const client = await edge.connect()
  await client.send(`${request('POST /', 'Content-Length: 100000')}${'x'.repeat(100_000)}`)
  await pass(edge, clock, 30)
  resolve()
  assert.equal((await first).text, '0')
  assert.equal((await client.response()).text, '100000')
})
