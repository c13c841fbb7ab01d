// Lets the first of two providers die in every way at every moment, and looks at what callers get:
// node bench/trials/failover.ts. CALLS says how many calls of each kind, 200 by default.
//
// No caller may see a failure for which the other provider could still have responded, two beginnings, or an
// end that no provider has sent. What the providers counted must be what the responses say about the attempts.
// Ends with code 1 if it is not.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from '../../test/help/free-port.ts'
import { ROOT } from '../load/installed.ts'
import { emptyFolder, keep, launch } from '../load/launch.ts'
import { firstStartIn } from '../load/peers/gatehouse-ai.ts'

const ways = [
  'reset',
  'close',
  'silence',
  'http_500',
  'http_503',
  'http_429',
  'error',
  'garbage',
  'bad_chunk',
  'short',
] as const
const moments = ['request', 'head', 'beginning', 'content', 'end'] as const
const apis = ['chat', 'messages'] as const
type Way = (typeof ways)[number]
type Moment = (typeof moments)[number]
type Api = (typeof apis)[number]

interface Kind {
  readonly api: Api
  readonly stream: boolean
  readonly way: Way
  readonly moment: Moment
}

/** Calls of one kind, and how many are under way at once over all kinds. */
const calls = Number(process.env.CALLS ?? 200)
const atOnce = 48
/** Ms without content after which a provider counts as silent. */
const patience = 1_500

// ── the providers ──

/** The pieces of a response: those before its content, the content, and the end. */
interface Pieces {
  readonly beginning: string
  readonly content: string
  readonly end: string
}

const event = (name: string, data: object) =>
  `event: ${name}\ndata: ${JSON.stringify({ type: name, ...data })}\n\n`
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`

function piecesOf(dialect: 'openai' | 'anthropic', stream: boolean, words: string): Pieces {
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  if (dialect === 'openai' && stream)
    return {
      beginning: `: ping\n\n${chunk({ role: 'assistant', content: '' })}`,
      content: chunk({ content: words }),
      end: `${chunk({}, 'stop')}data: [DONE]\n\n`,
    }
  if (dialect === 'openai')
    return inThree({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: words }, finish_reason: 'stop' }],
      usage,
    })
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_reason: null,
    stop_sequence: null,
  }
  const counts = { input_tokens: 5, output_tokens: 2 }
  if (!stream)
    return inThree({
      ...message,
      content: [{ type: 'text', text: words }],
      stop_reason: 'end_turn',
      usage: counts,
    })
  return {
    beginning:
      event('message_start', { message: { ...message, content: [], usage: counts } }) +
      event('ping', {}) +
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    content: event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: words } }),
    end:
      event('content_block_stop', { index: 0 }) +
      event('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 2 },
      }) +
      event('message_stop', {}),
  }
}

function inThree(value: object): Pieces {
  const whole = JSON.stringify(value)
  return { beginning: whole.slice(0, 20), content: whole.slice(20, -20), end: whole.slice(-20) }
}

const inChunk = (piece: string) => `${Buffer.byteLength(piece).toString(16)}\r\n${piece}\r\n`

class Provider {
  port = 0
  count = 0
  readonly #dialect: 'openai' | 'anthropic'
  readonly #dies: boolean

  constructor(dialect: 'openai' | 'anthropic', dies: boolean) {
    this.#dialect = dialect
    this.#dies = dies
  }

  async listen(): Promise<this> {
    const server = createServer({ noDelay: true }, socket => this.#serve(socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    this.port = (server.address() as AddressInfo).port
    return this
  }

  #serve(socket: Socket): void {
    let received = ''
    socket.on('error', () => {})
    socket.on('data', bytes => {
      received += bytes
      const end = received.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1])
      if (end === -1 || received.length < end + 4 + length) return
      const body = received.slice(end + 4)
      received = ''
      this.count++
      void this.#respond(socket, body)
    })
  }

  async #respond(socket: Socket, body: string): Promise<void> {
    const [, way, moment] = /way=(\w+) moment=(\w+)/.exec(body) as unknown as [string, Way, Moment]
    const stream = /"stream":true/.test(body)
    const { beginning, content, end } = piecesOf(this.#dialect, stream, this.#dies ? 'from one' : 'from two')
    const type = stream ? 'text/event-stream' : 'application/json'
    const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const parts = [head, inChunk(beginning), inChunk(content), inChunk(end), '0\r\n\r\n']
    const alive = this.#dies ? moments.indexOf(moment) : parts.length
    // Each part is a packet of its own, as from a model that writes.
    for (const part of parts.slice(0, alive)) {
      socket.write(part)
      if (stream) await wait(1)
    }
    if (this.#dies) this.#die(socket, way, stream, alive)
  }

  #die(socket: Socket, way: Way, stream: boolean, sent: number): void {
    const status = /^http_(\d+)$/.exec(way)?.[1]
    const error = JSON.stringify({
      type: 'error',
      error: { type: 'overloaded_error', message: 'overloaded' },
    })
    switch (way) {
      case 'reset':
        return void socket.resetAndDestroy()
      case 'close':
        return void socket.end()
      case 'silence':
        return
      case 'garbage':
        return void socket.end('\0\0garbage\r\n\r\n')
      case 'bad_chunk':
        return void socket.end(
          sent === 0 ? 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n' : 'zz\r\n',
        )
      case 'short':
        return void socket.end(
          sent === 0 ? 'HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n{"id"' : '400\r\n{"id"',
        )
      default:
        // What has begun with 200 can say only in its body that it fails.
        if (sent > 0)
          return void socket.write(`${inChunk(stream ? `event: error\ndata: ${error}\n\n` : error)}0\r\n\r\n`)
        return void socket.write(
          `HTTP/1.1 ${status ?? 529} No\r\nContent-Type: application/json\r\nContent-Length: ${error.length}\r\n\r\n${error}`,
        )
    }
  }
}

const dialects = ['openai', 'anthropic'] as const
const dying = {
  openai: await new Provider('openai', true).listen(),
  anthropic: await new Provider('anthropic', true).listen(),
}
const sound = {
  openai: await new Provider('openai', false).listen(),
  anthropic: await new Provider('anthropic', false).listen(),
}

// ── the gateway ──

const [port, admin] = [await freePort(), await freePort()]
const provider = (name: string, { port }: Provider, speaks: string) =>
  `    custom-${name}: { url: 'http://127.0.0.1:${port}', keys: sk-trial, speaks: ${speaks} }\n`
const file = keep(
  'failover.yaml',
  `listen: ['127.0.0.1:${port}']
admin: 127.0.0.1:${admin}
log: { access: false }
ai:
  hosts: [127.0.0.1]
  timeouts: { response: ${patience}ms, idle: ${patience}ms }
  providers:
${dialects.map(name => provider(`dying-${name}`, dying[name], name) + provider(`sound-${name}`, sound[name], name)).join('')}  models:
    chat: [custom-dying-openai/m, custom-sound-anthropic/m]
    messages: [custom-dying-anthropic/m, custom-sound-openai/m]
zones: []
`,
)
const gateway = await launch('gatehouse', port, {
  file: process.execPath,
  args: [join(ROOT, 'src/main.ts'), 'start', '--config', file],
  env: { GATEHOUSE_DATA: emptyFolder() },
  prints: /svct_/,
})
const { account, token } = firstStartIn(gateway.printed())
const agent = new Agent({ keepAlive: true, maxSockets: atOnce })

interface Got {
  readonly status: number
  readonly body: string
  readonly isCut: boolean
  readonly attempts: string
}

function ask({ api, stream, way, moment }: Kind): Promise<Got> {
  const body = JSON.stringify({
    model: api,
    stream,
    max_tokens: 10,
    messages: [{ role: 'user', content: `way=${way} moment=${moment}` }],
  })
  const path = `/client/v4/accounts/${account}/ai/v1/${api === 'chat' ? 'chat/completions' : 'messages'}`
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, method: 'POST', headers, agent })
    outgoing.on('error', reject)
    outgoing.on('response', response => {
      let body = ''
      response.setEncoding('utf8').on('data', text => (body += text))
      response.on('error', () => {})
      response.on('close', () =>
        resolve({
          status: response.statusCode!,
          body,
          isCut: !response.complete,
          attempts: String(response.headers['svc-aig-attempts'] ?? ''),
        }),
      )
    })
    outgoing.end(body)
  })
}

// ── what a caller may get ──

/** Whether the first provider has sent content before it dies, so that no other may respond. */
function hasContent({ stream, moment }: Kind): boolean {
  return stream && (moment === 'content' || moment === 'end') && moments.indexOf(moment) >= 3
}

/** Returns what is wrong with a response; null for nothing. */
function flawOf(kind: Kind, { status, body, isCut, attempts }: Got): string | null {
  const outcomes = attempts.split(', ').map(attempt => /outcome=(\w+)/.exec(attempt)?.[1])
  const beginnings =
    body.match(kind.api === 'chat' ? /"role":"assistant"/g : /"message_start"|"role":"assistant"/g)?.length ??
    0
  const ends = kind.api === 'chat' ? /\[DONE\]/.test(body) : /"message_stop"/.test(body)
  if (
    kind.stream &&
    (kind.api === 'chat' ? beginnings !== 1 : (body.match(/event: message_start/g)?.length ?? 0) !== 1)
  )
    return `${beginnings} beginnings`
  // Content that came together with the fault may not have been sent yet.
  if (hasContent(kind) && !body.includes('from two')) {
    if (status !== 200 || !body.includes('from one')) return 'not the stream that had begun'
    if (kind.moment === 'end') return ends ? null : 'no end'
    if (ends) return 'an end that nobody has sent'
    if (!/error/.test(body) && !isCut) return 'no sign of the failure'
    return outcomes.length === 1 ? null : `attempts: ${attempts}`
  }
  if (status !== 200) return `status ${status}, although the other provider was sound`
  if (isCut) return 'cut'
  if (!body.includes('from two') || body.includes('from one')) return 'not the response of the sound provider'
  if (kind.stream && !ends) return 'no end'
  if (kind.stream && /"error"/.test(body)) return 'an error in a sound stream'
  if (!kind.stream) JSON.parse(body)
  return outcomes.length === 2 && outcomes[0] !== 'ok' && outcomes[1] === 'ok'
    ? null
    : `attempts: ${attempts}`
}

const flaws = new Map<string, number>()
const attempts = new Map<string, number>()
const kinds = apis.flatMap(api =>
  [false, true].flatMap(stream =>
    ways.flatMap(way => moments.map((moment): Kind => ({ api, stream, way, moment }))),
  ),
)
const queue = Array.from({ length: calls }, () => kinds).flat()
const total = queue.length
const began = performance.now()
await Promise.all(Array.from({ length: atOnce }, work))
const seconds = (performance.now() - began) / 1000

async function work(): Promise<void> {
  for (let kind = queue.pop(); kind !== undefined; kind = queue.pop()) {
    const got = await ask(kind).catch((error: Error) => ({
      status: 0,
      body: error.message,
      isCut: true,
      attempts: '',
    }))
    const flaw = flawOf(kind, got)
    for (const [, name] of got.attempts.matchAll(/(custom-[\w-]+);/g))
      attempts.set(name!, (attempts.get(name!) ?? 0) + 1)
    if (flaw === null) continue
    const { api, stream, way, moment } = kind
    const line = `${api}${stream ? ', streamed' : ''}, ${way} at ${moment}: ${flaw}`
    flaws.set(line, (flaws.get(line) ?? 0) + 1)
  }
}

for (const name of dialects)
  for (const [kind, { count }] of [
    ['dying', dying[name]],
    ['sound', sound[name]],
  ] as const) {
    const told = attempts.get(`custom-${kind}-${name}`) ?? 0
    console.log(`custom-${kind}-${name}: ${count} calls, ${told} attempts in the ledgers`)
    if (count !== told) flaws.set(`custom-${kind}-${name}: ${count} calls, ${told} in the ledgers`, 1)
  }
console.log(`${total} calls of ${kinds.length} kinds in ${seconds.toFixed(0)} s`)
for (const [line, count] of flaws) console.log(`${count} × ${line}`)
if (flaws.size === 0) console.log('all as it should be')
await gateway.stop()
process.exit(flaws.size === 0 ? 0 : 1)
