// Origins that do at random whatever origins do, against clients that leave at random: nobody gets a byte of another's answer, every request ends, and nothing
// stays behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { type Edge, edgeConfig, startEdge } from '../help/edge.ts'
import { type Origin, startOrigin, startTlsOrigin } from '../help/origin.ts'
import { chunks, Ended, type Message, request, type Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

/** More of them by hand: RUNS=400, and a longer `--test-timeout`. */
const RUNS = Number(process.env.RUNS ?? thorough(15, 8))
const timeouts = { response: 300, idle: 300, write: 300 }

/** What marks each byte of an answer as the one to this request. */
const mark = (id: number) => `id=${id};`

/** Answers with what nobody may ever see. */
const foreign = 'HTTP/1.1 200 OK\r\nX-Id: id=-1;\r\nContent-Length: 6\r\n\r\nid=-1;'

interface Asked {
  readonly wire: Wire
  readonly id: number
  readonly method: string
  readonly turns: number
  /** Reads the body of the request. */
  readonly body: () => Promise<void>
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate)
}

function head(id: number, ...fields: string[]): string {
  return `${['HTTP/1.1 200 OK', `X-Id: ${mark(id)}`, ...fields].join('\r\n')}\r\n\r\n`
}

function whole(id: number, method: string, times = 3, ...fields: string[]): string {
  const body = mark(id).repeat(times)
  return head(id, `Content-Length: ${body.length}`, ...fields) + (method === 'HEAD' ? '' : body)
}

async function inPieces({ wire, turns: pause }: Asked, bytes: string): Promise<void> {
  const size = Math.ceil(bytes.length / 4)
  for (let at = 0; at < bytes.length; at += size) {
    await wire.send(bytes.slice(at, at + size))
    await turns(pause)
  }
}

/** Answers with a head that must have no body, and sends one all the same, later. */
async function late({ wire, turns: ms }: Asked, bodiless: string): Promise<void> {
  await wire.send(bodiless)
  await wait(ms * 5)
  await wire.send(foreign)
}

const end = ({ wire }: Asked) => wire.socket.end()
const reset = ({ wire }: Asked) => wire.reset()

/** What an origin does with one request. */
const acts: Readonly<Record<string, (asked: Asked) => unknown>> = {
  answer: asked => asked.wire.send(whole(asked.id, asked.method)),
  large: asked => asked.wire.send(whole(asked.id, asked.method, 200_000)),
  pieces: asked => inPieces(asked, whole(asked.id, asked.method)),
  interim: async asked => {
    await asked.wire.send(`HTTP/1.1 103 Early Hints\r\nX-Id: ${mark(asked.id)}\r\n\r\n`)
    await turns(asked.turns)
    await asked.wire.send(whole(asked.id, asked.method))
  },
  chunked: asked => {
    const body = asked.method === 'HEAD' ? '' : `${chunks(mark(asked.id), mark(asked.id))}0\r\n\r\n`
    return inPieces(asked, head(asked.id, 'Transfer-Encoding: chunked') + body)
  },
  toEnd: async asked => {
    await inPieces(asked, head(asked.id) + (asked.method === 'HEAD' ? '' : mark(asked.id)))
    end(asked)
  },
  none: asked => asked.wire.send(`HTTP/1.1 204 No Content\r\nX-Id: ${mark(asked.id)}\r\n\r\n`),
  late: asked => {
    if (asked.method === 'HEAD') return late(asked, head(asked.id, 'Content-Length: 100'))
    return late(asked, `HTTP/1.1 304 Not Modified\r\nX-Id: ${mark(asked.id)}\r\nContent-Length: 100\r\n\r\n`)
  },
  tooMuch: async asked => {
    await asked.wire.send(`HTTP/1.1 204 No Content\r\n\r\n${foreign}`)
  },
  answerAndFin: async asked => {
    asked.wire.socket.write(whole(asked.id, asked.method))
    end(asked)
  },
  answerAndRst: async asked => {
    asked.wire.socket.write(whole(asked.id, asked.method))
    reset(asked)
  },
  lastAnswer: async asked => {
    await asked.wire.send(whole(asked.id, asked.method, 3, 'Connection: close'))
    end(asked)
  },
  halfHead: async asked => {
    await asked.wire.send(whole(asked.id, asked.method).slice(0, 20))
    await turns(asked.turns)
    end(asked)
  },
  halfAndFin: async asked => {
    await asked.wire.send(head(asked.id, 'Content-Length: 1000') + mark(asked.id))
    await turns(asked.turns)
    end(asked)
  },
  halfAndRst: async asked => {
    await asked.wire.send(head(asked.id, 'Transfer-Encoding: chunked') + chunks(mark(asked.id)))
    await turns(asked.turns)
    reset(asked)
  },
  halfAndSilence: asked => asked.wire.send(head(asked.id, 'Content-Length: 1000') + mark(asked.id)),
  fin: async asked => end(asked),
  rst: async asked => reset(asked),
  silence: async asked => void (await asked.wire.ending),
  nonsense: asked => asked.wire.send('SSH-2.0-x\r\n\r\n'),
  redirect: asked => asked.wire.send(redirect(asked, 'answer')),
  redirectInPieces: asked => inPieces(asked, redirect(asked, 'chunked')),
  redirectToLate: asked => asked.wire.send(redirect(asked, 'late')),
  redirectAndFin: async asked => {
    asked.wire.socket.write(redirect(asked, 'answerAndFin'))
    end(asked)
  },
  halfRedirect: async asked => {
    await asked.wire.send(redirect(asked, 'answer').slice(0, -3))
    await turns(asked.turns)
    reset(asked)
  },
}

function redirect({ id, method }: Asked, then: string): string {
  const body = method === 'HEAD' ? '' : 'elsewhere'
  return `HTTP/1.1 302 Found\r\nLocation: /${id}/${then}/1\r\nContent-Length: 9\r\n\r\n${body}`
}

/** Serves one connection: what is to be done stands in the target of each request. */
async function serve(wire: Wire): Promise<void> {
  while (!wire.socket.destroyed) {
    const message = await wire.head()
    const [id, act, isEarly, count] = message.target.slice(1).split(/[/?]/) as [
      string,
      string,
      string,
      string,
    ]
    const asked: Asked = {
      wire,
      id: Number(id),
      method: message.startLine.split(' ')[0]!,
      turns: Number(count ?? 1),
      body: () => wire.body(message, false),
    }
    if (isEarly !== 'early') await asked.body()
    assert.ok(act in acts, message.startLine + message.lines.join())
    await acts[act]!(asked)
    if (isEarly === 'early') await asked.body()
  }
}

interface Plan {
  readonly method: string
  readonly act: string
  readonly isEarly: boolean
  readonly size: number
  /** Turns that the origin, or the client before it leaves, may take. */
  readonly turns: number
  readonly leaves: 'FIN' | 'RST' | null
  readonly isSlow: boolean
}

const plan: fc.Arbitrary<Plan> = fc.record({
  method: fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'PUT'),
  act: fc.constantFrom(...Object.keys(acts), 'answer', 'answer', 'redirect'),
  isEarly: fc.boolean(),
  size: fc.constantFrom(0, 10, 100_000),
  turns: fc.integer({ min: 0, max: 6 }),
  leaves: fc.constantFrom(null, null, null, 'FIN', 'RST'),
  isSlow: fc.boolean(),
})

const client = fc.record({
  isPipelined: fc.boolean(),
  plans: fc.array(plan, { minLength: 1, maxLength: 5 }),
})

function bytesOf(id: number, { method, act, isEarly, size, turns: count }: Plan): string {
  const target = `/${id}/${act}/${isEarly ? 'early' : 'late'}?${count}`
  if (method === 'GET' || method === 'HEAD') return request(`${method} ${target}`)
  const body = 'x'.repeat(size)
  if (count % 2 === 0) return request(`${method} ${target}`, `Content-Length: ${size}`) + body
  const last = '0\r\n\r\n'
  return request(`${method} ${target}`, 'Transfer-Encoding: chunked') + (size > 0 ? chunks(body) : '') + last
}

let lastId = 0

/** Reads the final answer, and asserts that no byte of it is that to another request. */
async function readOwn(wire: Wire, id: number, method: string): Promise<void> {
  let answer: Message
  do answer = await wire.response(method)
  while (answer.status < 200)
  const marked = answer.field('x-id')
  assert.ok(marked === null || marked === mark(id), `${marked} in the answer to ${id}`)
  if (marked !== null) assert.equal(answer.text.replaceAll(mark(id), ''), '')
}

async function runClient(
  edge: Edge,
  { isPipelined, plans }: { isPipelined: boolean; plans: Plan[] },
): Promise<void> {
  const wire = await edge.connect()
  const asked = plans.map(plan => ({ plan, id: ++lastId }))
  const received: Buffer[] = []
  wire.socket.on('data', (bytes: Buffer) => received.push(bytes))
  const unread: { readonly id: number; readonly method: string }[] = []
  try {
    for (const { plan, id } of asked) {
      await wire.send(bytesOf(id, plan))
      if (plan.isSlow) wire.socket.pause()
      if (plan.leaves !== null) {
        await turns(plan.turns)
        if (plan.leaves === 'RST') wire.reset()
        unread.length = 0
        break
      }
      await turns(plan.isSlow ? 20 : 0)
      wire.socket.resume()
      if (isPipelined) unread.push({ id, method: plan.method })
      else await readOwn(wire, id, plan.method)
    }
    for (const { id, method } of unread) await readOwn(wire, id, method)
  } catch (error) {
    if (!(error instanceof Ended)) throw error
  } finally {
    wire.leave()
  }
  const own = asked.map(({ id }) => mark(id))
  const seen = new Set(
    Buffer.concat(received)
      .toString('latin1')
      .match(/id=-?\d+;/g),
  )
  assert.deepEqual(
    [...seen].filter(found => !own.includes(found)),
    [],
  )
}

async function assertNothingLeft(edge: Edge, origins: readonly Origin[]): Promise<void> {
  const { members } = edge.plane.snapshot.pools.named[0]!
  await until(() => edge.metrics.clientConnections.value === 0)
  assert.deepEqual(
    members.map(({ target }) => [target.outstanding, target.queueLength]),
    members.map(() => [0, 0]),
  )
  for (const { wires } of origins) for (const { socket } of wires) socket.resume()
  edge.reload(edgeConfig([]))
  await until(
    () => edge.metrics.originConnections.value === 0 && members.every(({ target }) => target.isUnused),
  )
  assert.deepEqual(edge.events, [])
}

for (const [connections, members, protocol] of [
  [0, 1, 'http'],
  [1, 1, 'http'],
  [2, 1, 'http'],
  [1, 2, 'http'],
  [3, 3, 'http'],
  [2, 1, 'https'],
  [1, 2, 'https'],
] as const) {
  const start = protocol === 'http' ? startOrigin : startTlsOrigin
  const cap = connections === 0 ? 'any number of connections' : `${connections} connections each`
  test(`no client gets another's response from ${members} members by ${protocol} with ${cap}`, async t => {
    const run = async (clients: readonly { isPipelined: boolean; plans: Plan[] }[]) => {
      const origins = await Promise.all(Array.from({ length: members }, () => start(t, serve)))
      const edge = await startEdge(
        t,
        origins.map(({ port }) => ({ url: `${protocol}://127.0.0.1:${port}`, tls: { verify: false } })),
        {
          timeouts,
          route: { redirects: 3 },
          transport: { connections, queue: { size: 20, timeout: 2_000 } },
          pool: { ejection: null },
        },
      )
      await Promise.all(clients.map(plans => runClient(edge, plans)))
      await assertNothingLeft(edge, origins)
      edge.plane.destroy()
      for (const origin of origins) await origin.close()
    }
    const clients = fc.array(client, { minLength: 2, maxLength: 10 })
    // Cut short, a run that hangs would pass.
    await fc.assert(fc.asyncProperty(clients, run), { numRuns: RUNS, timeout: 60_000, endOnFailure: true })
  })
}
