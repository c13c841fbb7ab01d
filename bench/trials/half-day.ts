// Puts what a gateway meets in half a day into some minutes, and looks at what is left of it: node bench/trials/half-day.ts. MINUTES says how many, 20 by default.
//
// Every kind of request runs all the time, while the configuration is reloaded, origins and the store die and come back, and workers are killed. After each quarter the
// load rests: then memory and descriptors must be those of the first rest, and the counters must add up to what clients saw. Ends with code 1 if they do not.
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request, type Server } from 'node:http'
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket, WebSocketServer } from 'ws'
import { freePort } from '../../test/help/free-port.ts'
import { ROOT } from '../load/installed.ts'
import { emptyFolder, folder, keep, launch } from '../load/launch.ts'
import { firstStartIn } from '../load/peers/gatehouse-ai.ts'
import { childrenOf, residentMemory } from '../load/proc.ts'
import { identityFiles } from '../load/tls.ts'

/** What clients saw of one kind of request. */
interface Tally {
  /** Responses by status, whole or cut. */
  readonly statuses: Map<number, number>
  /** Requests without the head of a response, and responses that were cut. */
  failed: number
  cut: number
}

interface Rest {
  readonly memory: number
  readonly descriptors: number
  /** Responses that clients saw, requests of which they saw none, and what the gateway counted. */
  readonly seen: number
  readonly unseen: number
  readonly counted: number
}

const minutes = Number(process.env.MINUTES ?? 20)
const quarter = (minutes * 60_000) / 4
/** Milliseconds between two disturbances of a kind. */
const every = { reload: quarter / 12, origin: quarter / 6, store: quarter / 4, worker: quarter / 2 }
const atOnce = 4
const mebibyte = Buffer.alloc(2 ** 20, 'x')
const page = Array.from({ length: 1_000 }, (_, n) => `<li>item ${(n * 7919) % 1000}</li>\n`).join('')
const completion = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
})
const grpcCall = {
  ':method': 'POST',
  ':path': '/trial.Echo/Unary',
  'content-type': 'application/grpc',
  te: 'trailers',
}
const chat = (stream: boolean) =>
  JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hello' }] })

let asked = 0
let exports = 0
const originPort = await freePort()
const fickle = await freePort()
await listen(originPort)
const [grpcPort, collectorPort] = [await listenForGrpc(), await collect()]
let fickleServer: Server | null = await listen(fickle)
const [plain, tls, admin, redisPort] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
const redisFolder = join(folder, 'redis')
mkdirSync(redisFolder)
let redis = await startRedis()
const file = keep('half-day.yaml', config(365))
const gateway = await launch('gatehouse', plain, {
  file: process.execPath,
  args: [join(ROOT, 'src/main.ts'), 'start', '--config', file],
  env: { GATEHOUSE_DATA: emptyFolder() },
  prints: /svct_/,
})
const { account, token } = firstStartIn(gateway.printed())
const supervisor = supervisorOf(gateway.pid)

const tallies = new Map<string, Tally>()
const kept = new Agent({ keepAlive: true, maxSockets: 64 })
const keptTls = new TlsAgent({ keepAlive: true, maxSockets: 64, rejectUnauthorized: false })
const http = { host: '127.0.0.1', port: plain, agent: kept, headers: { Host: 'site' } }
const ai = `/v1/${account}/default/openai/chat/completions`
const aiHeaders = (credential: string) => ({
  Host: 'ai',
  'Content-Type': 'application/json',
  'svc-aig-authorization': `Bearer ${credential}`,
})

/** Each kind of request makes one, and returns its status once its response has ended; throws where it did not. */
const kinds: Readonly<Record<string, () => Promise<number>>> = {
  get: () => ask({ path: '/' }),
  post: () => ask({ path: '/', method: 'POST' }, Buffer.alloc(10_000, 'y')),
  upload: () => ask({ path: '/', method: 'POST' }, mebibyte),
  download: () => ask({ path: '/mebibyte' }),
  events: () => ask({ path: '/events' }),
  'origin that dies': () => ask({ path: '/fickle' }),
  'page of an error': () => ask({ path: '/', headers: { Host: 'unknown', Accept: 'text/html' } }),
  'new TLS connection': () => askTls({ path: '/', agent: false }),
  'TLS connection kept': () => askTls({ path: '/', agent: keptTls }),
  'HTTP/2': () => askByHttp2(),
  gRPC: () => askByHttp2(grpcCall, Buffer.from([0, 0, 0, 0, 2, 1, 2])),
  compressed: () => ask({ path: '/compressed', headers: { Host: 'site', 'Accept-Encoding': 'zstd, gzip' } }),
  websocket: speak,
  chat: () => ask({ path: ai, method: 'POST', headers: aiHeaders(token) }, Buffer.from(chat(false))),
  'streamed chat': () =>
    ask({ path: ai, method: 'POST', headers: aiHeaders(token) }, Buffer.from(chat(true))),
  'made-up token': () => {
    const headers = aiHeaders(`svct_${Math.random().toString(36).padEnd(43, 'x').slice(2, 43)}`)
    return ask({ path: ai, method: 'POST', headers }, Buffer.from(chat(false)))
  },
  'client that leaves': leave,
}

const rests: Rest[] = []
let reloads = 0
// The first rest is behind some load, so that what is made once is there.
await load(Math.min(quarter / 4, 30_000), [])
rests.push(await rest())
console.log(`rest 0: ${describe(rests[0]!)}`)
for (let n = 1; n <= 4; n++) {
  await load(quarter, [
    [every.reload, reload],
    [every.origin, killOrigin],
    [every.store, killStore],
    // The last quarter kills none, so that its counters must be exact.
    ...(n < 4 ? [[every.worker, killWorker] as const] : []),
  ])
  rests.push(await rest())
  console.log(`rest ${n}: ${describe(rests[n]!)}`)
}
for (const [kind, { statuses, failed, cut }] of tallies) {
  const list = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
  console.log(`${kind}: ${list}${failed ? `, ${failed} without a response` : ''}${cut ? `, ${cut} cut` : ''}`)
}
const faults = [...flatness(), ...(await sums())]
console.log(faults.length === 0 ? 'all as it should be' : faults.join('\n'))
process.exit(faults.length === 0 ? 0 : 1)

/** Runs every kind of request for so long, and each disturbance in its interval. */
async function load(
  duration: number,
  disturbances: readonly (readonly [number, () => Promise<void>])[],
): Promise<void> {
  const end = performance.now() + duration
  const disturb = async ([interval, act]: readonly [number, () => Promise<void>]) => {
    for (;;) {
      await wait(interval * (0.75 + Math.random() / 2))
      if (performance.now() > end - 8_000) return
      await act()
    }
  }
  const loops = Object.entries(kinds).flatMap(([kind, make]) =>
    Array.from({ length: atOnce }, () => repeat(kind, make, end)),
  )
  await Promise.all([...loops, ...disturbances.map(disturb)])
}

async function repeat(kind: string, make: () => Promise<number>, end: number): Promise<void> {
  const tally = tallies.getOrInsertComputed(kind, () => ({ statuses: new Map(), failed: 0, cut: 0 }))
  while (performance.now() < end) {
    try {
      count(tally, await inTime(kind, make()))
    } catch (error) {
      const { status } = error as { status?: number }
      if (status === undefined) tally.failed++
      else {
        count(tally, status)
        tally.cut++
      }
    }
    await wait(5)
  }
}

/** Fails the trial for a request that neither ends nor fails. */
function inTime(kind: string, made: Promise<number>): Promise<number> {
  const hanging = setTimeout(() => {
    console.log(`${kind}: no end within two minutes`)
    process.exit(1)
  }, 120_000)
  return made.finally(() => clearTimeout(hanging))
}

function count({ statuses }: Tally, status: number): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
}

/** Closes the clients' connections, waits until the gateway has none, and measures it. */
async function rest(): Promise<Rest> {
  kept.destroy()
  keptTls.destroy()
  const until = performance.now() + 120_000
  while ((await value('gatehouse_connections_open{side="client"}')) > 0 && performance.now() < until)
    await wait(500)
  // Connections to origins that are idle, and what a collection has not yet freed, go by themselves.
  await wait(15_000)
  const processes = [supervisor, ...childrenOf(supervisor)]
  return {
    memory: processes.reduce((sum, pid) => sum + residentMemory(pid), 0),
    descriptors: processes.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0),
    seen: total(Array.from(tallies.values(), ({ statuses }) => total(statuses.values()))),
    unseen: total(Array.from(tallies.values(), ({ failed }) => failed)),
    counted: total(
      Array.from((await metrics()).matchAll(/^gatehouse_requests_total\{.*\} (\d+)$/gm), ([, number]) =>
        Number(number),
      ),
    ),
  }
}

function describe({ memory, descriptors }: Rest): string {
  return `${memory.toFixed(0)} MiB, ${descriptors} descriptors`
}

/** A tenth more memory, and a few descriptors, are what the moment of measuring makes. */
function flatness(): string[] {
  const [first, ...others] = rests as [Rest, ...Rest[]]
  const last = others.at(-1)!
  return [
    ...(last.memory > first.memory * 1.1 ? [`memory grew from ${first.memory} to ${last.memory} MiB`] : []),
    ...(last.descriptors > first.descriptors + 10
      ? [`${last.descriptors - first.descriptors} descriptors more`]
      : []),
  ]
}

/** Whether the counters of the last quarter are what clients saw: each response once, and at most those too that no client has seen. */
async function sums(): Promise<string[]> {
  const [before, last] = rests.slice(-2) as [Rest, Rest]
  const seen = last.seen - before.seen
  const unseen = last.unseen - before.unseen
  const counted = last.counted - before.counted
  const entries = await value('gatehouse_ai_log_entries_total{result="written"}')
  const dropped = await value('gatehouse_ai_log_entries_total{result="dropped"}')
  console.log(
    `last quarter: ${seen} responses seen, ${unseen} requests without one, ${counted} counted; in all: ` +
      `${asked} calls reached the provider, ${entries} log entries written, ${dropped} dropped; ${reloads} reloads; ${exports} messages to the collector`,
  )
  return [
    ...(counted < seen || counted > seen + unseen ? [`${counted} requests counted, ${seen} seen`] : []),
    ...(exports === 0 ? ['nothing came to the collector'] : []),
    ...(entries + dropped > asked ? [`${entries + dropped} log entries of ${asked} calls`] : []),
  ]
}

function total(numbers: Iterable<number>): number {
  let sum = 0
  for (const number of numbers) sum += number
  return sum
}

async function metrics(): Promise<string> {
  return (await fetch(`http://127.0.0.1:${admin}/metrics`)).text()
}

async function value(sample: string): Promise<number> {
  const line = (await metrics()).split('\n').find(line => line.startsWith(`${sample} `))
  return Number(line?.slice(sample.length + 1) ?? Number.NaN)
}

async function reload(): Promise<void> {
  reloads++
  writeFileSync(file, config(365 + reloads))
}

async function killOrigin(): Promise<void> {
  fickleServer!.close()
  fickleServer!.closeAllConnections()
  await wait(2_000)
  fickleServer = await listen(fickle)
}

async function killStore(): Promise<void> {
  await redis.stop()
  await wait(3_000)
  redis = await startRedis()
}

async function killWorker(): Promise<void> {
  const workers = childrenOf(supervisor)
  process.kill(workers[Math.floor(Math.random() * workers.length)]!, 'SIGKILL')
}

function config(hsts: number): string {
  const { certificate, key } = identityFiles()
  return `workers: 2
listen: ['127.0.0.1:${plain}', { address: '127.0.0.1:${tls}', tls: true }]
admin: 127.0.0.1:${admin}
log: { access: false }
telemetry: { sample: 0.1, otlp: { url: 'http://127.0.0.1:${collectorPort}', interval: 5s } }
store: redis://127.0.0.1:${redisPort}
tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }
rate_limits: [{ name: far-away, rate: 1000000/s, key: address }]
ai:
  hosts: [ai]
  providers: { openai: { url: 'http://127.0.0.1:${originPort}/v1', keys: sk-trial } }
pools:
  site: { origins: ['http://127.0.0.1:${originPort}'], check: { path: /, interval: 5s, timeout: 5s } }
  fickle: { origins: ['http://127.0.0.1:${fickle}'] }
  grpc: { origins: ['http://127.0.0.1:${grpcPort}'], http: h2c }
zones:
  - hosts: [site, 127.0.0.1]
    tls: { hsts: ${hsts}d }
    routes: [{ path: /, pool: site }, { path: /fickle, pool: fickle }, { path: /trial.Echo, pool: grpc }, { path: /compressed, pool: site, compression: on }]
`
}

/** Serves sites, event streams, WebSockets and chats, and counts the chats. */
async function listen(port: number): Promise<Server> {
  const server = createServer(async (incoming, response) => {
    response.on('error', () => {})
    const body = await buffer(incoming).catch(() => null)
    if (body === null) return
    switch (incoming.url) {
      case '/mebibyte':
        return void response.end(mebibyte)
      case '/events':
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        for (let n = 0; n < 10 && !response.destroyed; n++, await wait(20)) response.write(`data: ${n}\n\n`)
        return void response.end()
      case '/compressed':
        return void response.writeHead(200, { 'Content-Type': 'text/html' }).end(page)
      case '/slow':
        await wait(500)
        return void response.end('late')
      case '/v1/chat/completions':
        asked++
        if (!body.includes('"stream":true'))
          return void response.writeHead(200, { 'Content-Type': 'application/json' }).end(completion)
        response.writeHead(200, { 'Content-Type': 'text/event-stream' })
        for (let n = 0; n < 10 && !response.destroyed; n++, await wait(20))
          response.write(`data: {"id":"c","choices":[{"index":0,"delta":{"content":"token "}}]}\n\n`)
        return void response.end('data: [DONE]\n\n')
      default:
        response.end(`${body.length} bytes`)
    }
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', socket =>
    socket.on('message', message => socket.send(message)).on('error', () => {}),
  )
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Responds to calls of gRPC with what they sent. */
async function listenForGrpc(): Promise<number> {
  const server = createHttp2Server()
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => {})
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.pipe(stream)
  })
  return portOf(server)
}

/** Takes spans and metrics, and counts their messages. */
function collect(): Promise<number> {
  return portOf(
    createServer((incoming, response) => {
      exports++
      incoming.resume().on('end', () => response.end())
    }),
  )
}

async function portOf(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Redis keeps what it has in a file, so that its death loses nothing. */
function startRedis() {
  return launch('redis-server', redisPort, {
    file: 'redis-server',
    args: [
      '--port',
      `${redisPort}`,
      '--bind',
      '127.0.0.1',
      '--dir',
      redisFolder,
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ],
    prints: /Ready to accept connections/,
    isHttp: false,
  })
}

interface Asking {
  readonly path: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}

function ask({ path, method = 'GET', headers = { Host: 'site' } }: Asking, body?: Buffer): Promise<number> {
  return statusOf(request({ ...http, path, method, headers }), body)
}

function askTls(options: { readonly path: string; readonly agent: TlsAgent | false }): Promise<number> {
  const whole = {
    ...options,
    host: '127.0.0.1',
    port: tls,
    rejectUnauthorized: false,
  }
  return statusOf(tlsRequest(whole))
}

/** Sends a request and reads its response to the end; an error behind the head has its status. */
async function statusOf(sent: ReturnType<typeof request>, body?: Buffer): Promise<number> {
  sent.end(body)
  const [response] = await once(sent, 'response')
  const status: number = response.statusCode
  try {
    for await (const _ of response);
  } catch (error) {
    throw Object.assign(error as Error, { status })
  }
  return status
}

/** A connection of HTTP/2 of its own, as a browser that comes for the first time opens it. */
async function askByHttp2(
  fields: OutgoingHttpHeaders = { ':path': '/' },
  body = Buffer.alloc(0),
): Promise<number> {
  const session = connectHttp2(`https://127.0.0.1:${tls}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const failure = once(session, 'close').then(() => Promise.reject(new Error('closed')))
  failure.catch(() => {})
  try {
    const stream = session.request({ ...fields, ':authority': 'site' }, { endStream: body.length === 0 })
    if (body.length > 0) stream.end(body)
    const [head] = await Promise.race([once(stream, 'response'), failure])
    const status: number = head[':status']
    try {
      await Promise.race([buffer(stream), failure])
    } catch (error) {
      throw Object.assign(error as Error, { status })
    }
    return status
  } finally {
    session.destroy()
  }
}

/** Says five things over a WebSocket and hears them again. */
async function speak(): Promise<number> {
  const socket = new WebSocket(`ws://127.0.0.1:${plain}/`, { headers: { Host: 'site' } })
  const failure = once(socket, 'close').then(() => Promise.reject(new Error('closed')))
  failure.catch(() => {})
  socket.on('error', () => {})
  let status: number | undefined
  socket.on('unexpected-response', (_, response) => {
    status = response.statusCode!
    response.resume()
    socket.terminate()
  })
  try {
    await Promise.race([once(socket, 'open'), failure])
    status = 101
    for (let n = 0; n < 5; n++) {
      socket.send(`${n}`)
      await Promise.race([once(socket, 'message'), failure])
    }
    socket.close()
    await once(socket, 'close')
    return status
  } catch (error) {
    if (status !== undefined && status !== 101) return status
    throw Object.assign(error as Error, { status })
  } finally {
    socket.terminate()
  }
}

/** Hangs up while the origin thinks: nobody sees a response, yet the gateway counts a request. */
async function leave(): Promise<number> {
  const sent = request({ ...http, path: '/slow', agent: false })
  sent.on('error', () => {})
  sent.end()
  await wait(20 + Math.random() * 100)
  sent.destroy()
  throw new Error('left')
}

/** Returns the process that watches the workers: launch names one of those that it started. */
function supervisorOf(pid: number): number {
  const [, parent] = /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))!
  return Number(parent)
}
