// Members of a pool that fail are left alone for a while, come back by one trial, and are found down or up by checks; where none is healthy, clients are told when to
// come again.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { checkKey } from '../../src/edge/origin/health/health-checker.ts'
import { poolState } from '../../src/edge/origin/pools.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { codeOf, type Edge, edgeConfig, type EdgeSettings, recordOf, startEdge } from '../help/edge.ts'
import { freePort } from '../help/free-port.ts'
import { type Origin, ok, startOrigin, startResponder } from '../help/origin.ts'
import { post, request, type Wire } from '../help/raw.ts'
import { turnsUntil, until } from '../help/until.ts'

const get = request('GET /', 'Accept: application/json')
const ejection = { failures: 3, base: 10_000, longest: 60_000 }
const retries = { most: 0, budget: 0 }

/** Starts an origin that resets what it is asked while `isIll`, and else answers with its name. */
async function startPatient(t: TestContext, name: string) {
  const patient = { isIll: false, asked: 0, origin: null as unknown as Origin }
  const respond = (_: unknown, wire: Wire) => {
    patient.asked++
    if (!patient.isIll) return ok(name)
    wire.reset()
    return undefined
  }
  patient.origin = await startResponder(t, respond, await freePort())
  return patient
}

async function startWard(t: TestContext, names: readonly string[], pool: EdgeSettings['pool'] = {}) {
  const clock = new ManualClock()
  const patients = await Promise.all(names.map(name => startPatient(t, name)))
  const urls = patients.map(({ origin }) => origin.url)
  const edge = await startEdge(t, urls, { ...patient, clock, pool: { ejection, retries, ...pool } })
  return { clock, patients, edge, urls }
}

/** Asks so often and tells who answered, `!` for an error. */
async function ask(edge: Edge, times: number): Promise<string> {
  let answers = ''
  for (let i = 0; i < times; i++) {
    const answer = await edge.ask(get)
    answers += answer.status === 200 ? answer.text : '!'
  }
  return answers
}

/** Lets time pass, and waits until the edge has seen it. */
async function pass(edge: Edge, clock: ManualClock, ms: number): Promise<void> {
  clock.advance(ms)
  await until(() => edge.plane.coarseNow >= clock.monotonic())
}

function states(edge: Edge): string[] {
  return edge.plane.snapshot.pools.named.flatMap(pool => poolState(pool).origins.map(({ state }) => state))
}

test('a member that fails repeatedly gets no more requests, until a trial succeeds', async t => {
  const { clock, patients, edge } = await startWard(t, ['a', 'b'])
  patients[0]!.isIll = true
  assert.equal(await ask(edge, 10), '!b!b!bbbbb')
  assert.deepEqual(states(edge), ['ejected', 'healthy'])
  assert.equal(edge.metrics.ejections.value, 1)
  await pass(edge, clock, 10_000)
  assert.deepEqual(states(edge), ['trial', 'healthy'])
  assert.equal((await ask(edge, 6)).replaceAll('b', ''), '!')
  await pass(edge, clock, 19_999)
  assert.equal(await ask(edge, 4), 'bbbb')
  patients[0]!.isIll = false
  await pass(edge, clock, 1)
  assert.match(await ask(edge, 6), /^(ab){3}$|^(ba){3}$/)
  assert.deepEqual(states(edge), ['healthy', 'healthy'])
})

test('only one request is the trial, however many come', async t => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const clock = new ManualClock()
  let isIll = true
  const first = await startOrigin(t, async wire => {
    await wire.request()
    if (isIll) return
    await promise
    await wire.send(ok('a'))
  })
  const second = await startResponder(t, ok('b'))
  const edge = await startEdge(t, [first.url, second.url], { clock, pool: { ejection, retries } })
  assert.equal(await ask(edge, 6), '!b!b!b')
  isIll = false
  await pass(edge, clock, 10_000)
  const before = first.wires.length
  const crowd = Promise.all(Array.from({ length: 10 }, () => edge.ask(get)))
  await first.wire(before)
  await until(() => second.requests.length >= 12)
  assert.equal(first.wires.length, before + 1)
  resolve()
  const answers = (await crowd).map(({ text }) => text)
  assert.equal(answers.filter(text => text === 'a').length, 1)
})

test('a trial whose client leaves makes room for another', async t => {
  const clock = new ManualClock()
  let isIll = true
  const first = await startOrigin(t, async wire => {
    await wire.request()
    if (isIll) return
    await wire.ending
  })
  const second = await startResponder(t, ok('b'))
  const edge = await startEdge(t, [first.url, second.url], { clock, pool: { ejection, retries } })
  assert.equal(await ask(edge, 6), '!b!b!b')
  isIll = false
  await pass(edge, clock, 10_000)
  for (let i = 0; i < 2; i++) {
    const clients = [await edge.connect(), await edge.connect()]
    for (const client of clients) await client.send(get)
    const trial = await first.wire(3 + i)
    for (const client of clients) client.leave()
    await trial.ending
  }
  assert.deepEqual(states(edge), ['trial', 'healthy'])
})

test('a trial that ends without a fault makes room for another', async t => {
  const clock = new ManualClock()
  let isIll = true
  const first = await startOrigin(t, async wire => {
    await wire.request()
    if (!isIll) await wire.ending
  })
  const second = await startResponder(t, ok('b'))
  const settings = { clock, pool: { ejection, retries }, timeouts: { total: 3_000 } }
  const edge = await startEdge(t, [first.url, second.url], settings)
  assert.equal(await ask(edge, 6), '!b!b!b')
  isIll = false
  await pass(edge, clock, 10_000)
  for (let i = 0; i < 2; i++) {
    const clients = [await edge.connect(), await edge.connect()]
    for (const client of clients) await client.send(get)
    await first.wire(3 + i)
    await pass(edge, clock, 3_000)
    const answers = await Promise.all(clients.map(client => client.response()))
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 504])
    for (const client of clients) client.leave()
  }
  assert.deepEqual(states(edge), ['trial', 'healthy'])
})

test('responses with an error status are not failures of the origin', async t => {
  const bad = await startResponder(t, 'HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n')
  const edge = await startEdge(t, [bad.url, bad.url], { pool: { ejection, retries } })
  for (let i = 0; i < 10; i++) assert.equal((await edge.ask(get)).status, 503)
  assert.deepEqual(states(edge), ['healthy', 'healthy'])
})

test('clients that leave are not failures of the origin', async t => {
  const silent = await startOrigin(t, async wire => {
    await wire.request()
    await wire.ending
  })
  const edge = await startEdge(t, [silent.url, silent.url], { pool: { ejection, retries } })
  for (let i = 0; i < 8; i++) {
    const client = await edge.connect()
    await client.send(get)
    const wire = await silent.wire(i)
    client.leave()
    await wire.ending
  }
  assert.deepEqual(states(edge), ['unchecked', 'unchecked'])
})

for (const [what, start, settings] of [
  ['refuses every connection', async () => `http://127.0.0.1:${await freePort()}`, {}],
  [
    'resets every request',
    async (t: TestContext) => {
      const reset = (_: unknown, wire: Wire) => {
        wire.reset()
        return undefined
      }
      return (await startResponder(t, reset)).url
    },
    {},
  ],
  [
    'responds with a status of eject_on',
    async (t: TestContext) => (await startResponder(t, 'HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n')).url,
    { ejectOn: [503] },
  ],
] as const)
  for (const [where, count, others] of [
    ['alone in its pool', 1, {}],
    ['in a pool without ejection', 2, { ejection: null }],
  ] as const)
    test(`an origin that ${what} is failing, ${where}`, async t => {
      const urls = await Promise.all(Array.from({ length: count }, () => start(t)))
      const edge = await startEdge(t, urls, { pool: { ejection, retries, ...settings, ...others } })
      assert.deepEqual(new Set(states(edge)), new Set(['unchecked']))
      for (let i = 0; i < 4 * count; i++) assert.ok((await edge.ask(get)).status > 500)
      const [pool] = edge.plane.snapshot.pools.named
      assert.deepEqual(
        poolState(pool!).origins.map(({ state, consecutive_failures: n }) => [state, n]),
        urls.map(() => ['failing', 4]),
      )
      assert.deepEqual(
        edge.metrics.poolMembers!().map(({ state }) => state),
        urls.map(() => 'failing'),
      )
      assert.equal(edge.metrics.ejections.value, 0)
    })

test('a pool of one keeps reporting how its origin fails', async t => {
  const { patients, edge } = await startWard(t, ['a'])
  patients[0]!.isIll = true
  for (let i = 0; i < 8; i++) assert.equal(codeOf(await edge.ask(get)), 520)
  assert.equal(edge.metrics.ejections.value, 0)
})

test('a pool whose members are all ejected is 1033 until the first trial', async t => {
  const { clock, patients, edge } = await startWard(t, ['a', 'b'])
  const ports = patients.map(({ origin }) => origin.port)
  for (const { origin } of patients) await origin.goDown()
  assert.equal(await ask(edge, 5), '!!!!!')
  await pass(edge, clock, 1_500)
  assert.equal(await ask(edge, 1), '!')
  const answer = await edge.ask(get)
  const { error_code, status, retry_after } = recordOf(answer)
  assert.deepEqual([error_code, status, retry_after], [1033, 530, 9])
  const [back] = await Promise.all(ports.map(port => startResponder(t, ok('back'), port)))
  assert.equal(await ask(edge, 1), '!')
  assert.equal(back!.requests.length, 0)
  await pass(edge, clock, 8_500)
  assert.equal(await ask(edge, 2), 'backback')
})

const poison = request('GET /poison', 'Accept: application/json')

/** Starts an edge before origins that reset whoever does not ask for /healthy, uploads before they are whole. */
async function startPoisoned(t: TestContext, settings: EdgeSettings = {}) {
  const clock = new ManualClock()
  const hold = { until: null as Promise<void> | null, count: 0 }
  const members = await Promise.all(
    ['a', 'b', 'c'].map(name =>
      startOrigin(t, async wire => {
        for (;;) {
          const { startLine } = await wire.head()
          if (startLine.startsWith('GET /healthy')) {
            await wire.send(ok(name))
            continue
          }
          if (hold.until !== null) hold.count++
          await hold.until
          return wire.reset()
        }
      }),
    ),
  )
  const urls = members.map(({ url }) => url)
  const pool = { ejection, ...settings.pool }
  return { clock, hold, edge: await startEdge(t, urls, { clock, ...settings, pool }) }
}

const healthy = request('GET /healthy', 'Accept: application/json')

for (const [what, bytes] of [
  ['requests that every origin resets', poison],
  ['uploads that every origin resets', post('/', 'x'.repeat(100_000), 'Accept: application/json')],
] as const) {
  test(`${what} leave the pool its last member`, async t => {
    const { clock, edge } = await startPoisoned(t)
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 20; i++) assert.equal((await edge.ask(bytes)).status, 520)
      assert.deepEqual(states(edge).toSorted(), ['ejected', 'ejected', 'failing'])
      assert.equal((await edge.ask(healthy)).status, 200)
      await pass(edge, clock, 60_000)
    }
  })
}

test('members that are yet to be tried do not make up for the last one that is healthy', async t => {
  const { clock, edge, hold } = await startPoisoned(t, { pool: { retries } })
  for (let i = 0; i < 20; i++) await edge.ask(poison)
  assert.deepEqual(states(edge).toSorted(), ['ejected', 'ejected', 'failing'])
  const { promise, resolve } = Promise.withResolvers<void>()
  hold.until = promise
  const crowd = Promise.all(Array.from({ length: 5 }, () => edge.ask(poison)))
  await turnsUntil(() => hold.count >= 5)
  await pass(edge, clock, 10_000)
  assert.deepEqual(states(edge).toSorted(), ['failing', 'trial', 'trial'])
  resolve()
  await crowd
  assert.deepEqual(states(edge).toSorted(), ['failing', 'trial', 'trial'])
})

test('an event stream that is idle for too long is not a failure of its origin', async t => {
  const quiet = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'
  const [a, b] = [await startResponder(t, quiet), await startResponder(t, quiet)]
  const edge = await startEdge(t, [a.url, b.url], { pool: { ejection, retries }, timeouts: { idle: 100 } })
  const streams = Array.from({ length: 8 }, async () => {
    const client = await edge.connect()
    await client.send(get)
    return client.rest()
  })
  await Promise.allSettled(streams)
  assert.equal(edge.metrics.ejections.value, 0)
  assert.deepEqual(
    edge.plane.snapshot.pools.named[0]!.members.map(({ health }) => health.failures),
    [0, 0],
  )
})

test('streams that their clients leave are successes: failures in between are not in a row', async t => {
  const start = () =>
    startResponder(t, ({ target }, wire) => {
      if (target === '/stream') return 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n'
      wire.reset()
      return undefined
    })
  const members = [await start(), await start()]
  const settings = { pool: { ejection, retries, balance: { by: 'hash', header: 'x-key' } } } as const
  const edge = await startEdge(
    t,
    members.map(({ url }) => url),
    settings,
  )
  for (let i = 0; i < 4; i++) {
    const client = await edge.connect()
    await client.send(request('GET /stream', 'X-Key: 1'))
    await client.until('data: 1')
    const [wire] = members.flatMap(({ wires }) => wires).slice(-1)
    client.leave()
    await wire!.ending
    assert.equal((await edge.ask(request('GET /', 'X-Key: 1'))).status, 520)
  }
  assert.deepEqual(states(edge).toSorted(), ['healthy', 'unchecked'])
})

test('a client that keeps its body back does not keep the trial', async t => {
  const { clock, patients, edge } = await startWard(t, ['a', 'b'])
  patients[0]!.isIll = true
  assert.equal(await ask(edge, 6), '!b!b!b')
  await pass(edge, clock, 10_000)
  const slow = await Promise.all(Array.from({ length: 4 }, () => edge.connect()))
  for (const client of slow) await client.send(request('POST /', 'Content-Length: 1', 'Expect: 100-continue'))
  for (const client of slow) assert.equal((await client.head()).status, 100)
  // Two of them were meant for it, as long as nobody was its trial.
  const asked = patients[0]!.asked
  assert.equal((await ask(edge, 2)).replace('b', ''), '!')
  assert.equal(patients[0]!.asked, asked + 1)
  for (const client of slow) {
    await client.send('x')
    assert.equal((await client.response()).text, 'b')
  }
  assert.equal(patients[0]!.asked, asked + 1)
})

test('an origin that comes back with slow start takes up its share gradually', async t => {
  const { clock, patients, edge } = await startWard(t, ['a', 'b'], { slowStart: 10_000 })
  patients[0]!.isIll = true
  await ask(edge, 6)
  patients[0]!.isIll = false
  await pass(edge, clock, 10_000)
  while (!(await ask(edge, 1)).includes('a')) {}
  const shareOf = async () => (await ask(edge, 60)).replaceAll('b', '').length / 60
  const shares = [await shareOf()]
  for (const ms of [4_000, 6_000]) {
    await pass(edge, clock, ms)
    shares.push(await shareOf())
  }
  // Of the weights 0.1, 0.4 and 1 against 1.
  for (const [i, expected] of [0.1 / 1.1, 0.4 / 1.4, 0.5].entries())
    assert.ok(Math.abs(shares[i]! - expected) < 0.04, `${shares}`)
})

const check = {
  path: '/',
  host: null,
  interval: 5_000,
  timeout: 1_000,
  healthy: 1,
  unhealthy: 1,
  least: 200,
  most: 399,
}

test('members that are down by their checks get no requests; when all are, the response names the next check', async t => {
  const { clock, edge, urls } = await startWard(t, ['a', 'b'], { check })
  const { origins } = edgeConfig(urls).zones[0]!.routes[0]!.pool!
  const found = (nth: number, isUp: boolean, nextIn: number) => ({
    key: checkKey(origins[nth]!, check),
    isUp,
    since: clock.now(),
    nextCheckAt: clock.now() + nextIn,
    lastCheckAt: clock.now(),
    lastDuration: 1,
    lastStatus: null,
    lastError: 'ECONNREFUSED',
  })
  const tell = (...results: ReturnType<typeof found>[]) => edge.plane.snapshot.pools.takeChecks(results)
  tell(found(0, false, 5_000))
  assert.equal(await ask(edge, 4), 'bbbb')
  assert.deepEqual(states(edge), ['down', 'healthy'])
  tell(found(1, false, 3_200))
  assert.equal(recordOf(await edge.ask(get)).retry_after, 4)
  tell({ ...found(0, true, 5_000), key: 'of another origin' })
  assert.equal(await ask(edge, 1), '!')
  tell(found(0, true, 5_000))
  assert.equal(await ask(edge, 2), 'aa')
})

test('good checks do not give an ejected member its requests back', async t => {
  const { clock, patients, edge, urls } = await startWard(t, ['a', 'b'], { check })
  const { origins } = edgeConfig(urls).zones[0]!.routes[0]!.pool!
  const good = () => ({
    key: checkKey(origins[0]!, check),
    isUp: true,
    since: clock.now(),
    nextCheckAt: clock.now() + 5_000,
    lastCheckAt: clock.now(),
    lastDuration: 1,
    lastStatus: 200,
    lastError: null,
  })
  patients[0]!.isIll = true
  assert.equal(await ask(edge, 6), '!b!b!b')
  for (const lasts of [10_000, 20_000]) {
    for (let passed = 0; passed < lasts; passed += 5_000) {
      edge.plane.snapshot.pools.takeChecks([good()])
      assert.equal(await ask(edge, 2), 'bb')
      await pass(edge, clock, 5_000)
    }
    assert.equal((await ask(edge, 2)).replace('b', ''), '!')
  }
  assert.equal(edge.metrics.ejections.value, 3)
})

test('the state of a pool member survives a reload that keeps the member', async t => {
  const { patients, edge, urls } = await startWard(t, ['a', 'b'])
  patients[0]!.isIll = true
  await ask(edge, 6)
  edge.reload(edgeConfig(urls, { pool: { ejection, retries, balance: { by: 'least_outstanding' } } }))
  assert.deepEqual(states(edge), ['ejected', 'healthy'])
  assert.equal(await ask(edge, 3), 'bbb')
})

test('the state of each member is reported', async t => {
  const { clock, patients, edge, urls } = await startWard(t, ['a', 'b'], { weights: [2, 1] })
  patients[1]!.isIll = true
  await ask(edge, 9)
  const [pool] = edge.plane.snapshot.pools.named
  assert.deepEqual(poolState(pool!), {
    pool: 'pool',
    origins: [
      {
        url: urls[0],
        weight: 2,
        state: 'healthy',
        since: new Date(clock.now()).toISOString(),
        ejections: 0,
        consecutive_failures: 0,
        ejected_until: null,
        check: null,
        outstanding: 0,
        slow_start: null,
        connections: 1,
        http2_connections: 0,
        queued: 0,
      },
      {
        url: urls[1],
        weight: 1,
        state: 'ejected',
        since: new Date(clock.now()).toISOString(),
        ejections: 1,
        consecutive_failures: 3,
        ejected_until: new Date(clock.now() + 10_000).toISOString(),
        check: null,
        outstanding: 0,
        slow_start: null,
        connections: 0,
        http2_connections: 0,
        queued: 0,
      },
    ],
  })
  assert.deepEqual(edge.metrics.poolMembers!(), [
    { pool: 'pool', origin: urls[0], state: 'healthy' },
    { pool: 'pool', origin: urls[1], state: 'ejected' },
  ])
})

test('a member that responds with a status of eject_on is ejected, and back after a successful trial', async t => {
  const clock = new ManualClock()
  let status = 503
  const failing = await startResponder(t, () => `HTTP/1.1 ${status} X\r\nContent-Length: 1\r\n\r\na`)
  const alive = await startResponder(t, ok('b'))
  const settings = { clock, pool: { ejection, retries, ejectOn: [503] } }
  const edge = await startEdge(t, [failing.url, alive.url], settings)
  assert.equal(await ask(edge, 20), `!b!b!b${'b'.repeat(14)}`)
  assert.deepEqual(states(edge), ['ejected', 'healthy'])
  await pass(edge, clock, 10_000)
  assert.equal((await ask(edge, 2)).replace('b', ''), '!')
  assert.equal(await ask(edge, 4), 'bbbb')
  await pass(edge, clock, 20_000)
  status = 200
  await ask(edge, 4)
  assert.deepEqual(states(edge), ['healthy', 'healthy'])
  assert.equal(edge.metrics.ejections.value, 2)
})

test('a member is ejected for its responses unless it is the last, and never for other statuses', async t => {
  const ill = () => startResponder(t, 'HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n')
  const urls = [(await ill()).url, (await ill()).url]
  const edge = await startEdge(t, urls, { pool: { ejection, retries, ejectOn: [503] } })
  for (let i = 0; i < 20; i++) assert.equal((await edge.ask(get)).status, 503)
  assert.deepEqual(states(edge).toSorted(), ['ejected', 'failing'])
  const lenient = await startEdge(t, urls, { pool: { ejection, retries, ejectOn: [502, 504] } })
  for (let i = 0; i < 20; i++) assert.equal((await lenient.ask(get)).status, 503)
  assert.deepEqual(states(lenient), ['healthy', 'healthy'])
})

test('a member that succeeds every second time is not ejected, and one that fails after its head counts once', async t => {
  let nth = 0
  const wavering = await startResponder(
    t,
    () => `HTTP/1.1 ${nth++ % 2 ? 200 : 503} X\r\nContent-Length: 1\r\n\r\na`,
  )
  const alive = await startResponder(t, ok('b'))
  const settings = { pool: { ejection, retries, ejectOn: [503] } }
  const edge = await startEdge(t, [wavering.url, alive.url], settings)
  assert.equal(await ask(edge, 20), '!bab'.repeat(5))
  const cut = await startResponder(t, (_, wire) => {
    wire.socket.end('HTTP/1.1 503 X\r\nContent-Length: 9\r\n\r\na')
    return undefined
  })
  const other = await startEdge(t, [cut.url, alive.url], settings)
  await other.ask(get).catch(() => {})
  assert.equal(other.plane.snapshot.pools.named[0]!.members[0]!.health.failures, 1)
})
