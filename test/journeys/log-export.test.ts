// AI calls, and their log entries on the way to a destination: every entry that was flushed arrives, in order.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { completion } from '../help/ai.ts'
import { blocksOf, type Page, readPage, section } from '../help/docs.ts'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { root } from '../help/source.ts'
import { until } from '../help/until.ts'

interface Line {
  readonly event: string
  readonly id: string
  readonly gateway_id: string
  readonly metadata?: { readonly n?: number }
  readonly [member: string]: unknown
}

/** A gateway and its first token; calls have a number in their metadata. */
class Caller {
  readonly #gateway: RunningGateway
  readonly #account: string
  readonly #token: string

  constructor(gateway: RunningGateway, account: string, token: string) {
    this.#gateway = gateway
    this.#account = account
    this.#token = token
  }

  static async of(gateway: RunningGateway): Promise<Caller> {
    const { account, token } = await gateway.firstStart
    return new Caller(gateway, account, token)
  }

  at(gateway: RunningGateway): Caller {
    return new Caller(gateway, this.#account, this.#token)
  }

  async call(n: number, gateway = 'default', content = 'secret words'): Promise<void> {
    const path = `/client/v4/accounts/${this.#account}/ai/v1/chat/completions`
    const headers = { 'svc-aig-metadata': JSON.stringify({ n }), 'svc-aig-gateway-id': gateway }
    const body = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content }] }
    const response = await this.#send(this.#gateway.edge + path, 'POST', body, headers)
    assert.equal(response.status, 200)
    await response.arrayBuffer()
  }

  async manage(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const url = `${this.#gateway.admin}/client/v4/accounts/${this.#account}/${path}`
    const response = await this.#send(url, method, body)
    const { result } = (await response.json()) as { result: Record<string, unknown> }
    assert.equal(response.status, 200)
    return result
  }

  #send(url: string, method: string, body?: object, headers: Record<string, string> = {}) {
    const all = { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json', ...headers }
    return fetch(url, { method, headers: all, ...(body && { body: JSON.stringify(body) }) })
  }
}

async function startExporting(t: TestContext, destination: string, more = ''): Promise<RunningGateway> {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  return startGateway(
    t,
    `
${more}
log: { access: off }
ai:
  hosts: [127.0.0.1]
  providers: { openai: { url: '${provider.url}' } }
  log_export: { ${destination}, delay: 100ms }
zones: []
`,
  )
}

/** Starts it again on the same data, such as after it was killed. */
function startAgain(t: TestContext, { file }: RunningGateway): Promise<RunningGateway> {
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  return spawnGateway(t, [main, 'start', '--config', file], { env }, file)
}

function linesIn(path: string): Line[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
}

/** Entries in the files of the spool. */
function spooled({ file }: RunningGateway): number {
  const folder = join(dirname(file), 'data', 'log-export')
  const files = ['.', 'batches'].flatMap(sub =>
    existsSync(join(folder, sub)) ? readdirSync(join(folder, sub)) : [],
  )
  const counts = files.map(name => Number(/-(\d+)-\d+\.(?:rows|ndjson\.gz)$/.exec(name)?.[1] ?? 0))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function sample(gateway: RunningGateway, name: string): Promise<number | undefined> {
  return readMetrics(await gateway.metrics()).samples.get(name)
}

const sent = 'gatehouse_ai_log_export_entries_total{result="sent"}'

test('entries of two workers arrive in a file, without bodies, the deletion of their gateway last, and each once while the gateway is replaced', async t => {
  const path = join(quickFolder(t, 'out'), 'calls.ndjson')
  const gateway = await startExporting(t, `file: ${path}`, 'workers: 2')
  const caller = await Caller.of(gateway)
  const gateways = 'ai-gateway/gateways'
  await caller.manage('POST', gateways, { id: 'brief', collect_logs: true })
  for (let n = 0; n < 20; n++) await caller.call(n, n % 2 === 0 ? 'default' : 'brief')
  await caller.manage('DELETE', `${gateways}/brief`)
  await until(() => linesIn(path).length === 21)
  const lines = linesIn(path)
  const of = (id: string) => lines.filter(({ gateway_id }) => gateway_id === id)
  const numbers = (id: string) => of(id).flatMap(({ metadata }) => metadata?.n ?? [])
  assert.deepEqual(numbers('default').sort(byNumber), [0, 2, 4, 6, 8, 10, 12, 14, 16, 18])
  assert.deepEqual(numbers('brief').sort(byNumber), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19])
  assert.equal(of('brief').at(-1)!.event, 'gateway_deleted')
  assert.equal(readFileSync(path, 'utf8').includes('secret words'), false)
  assert.equal(await sample(gateway, sent), 21)
  assert.equal(await sample(gateway, 'gatehouse_ai_log_export_waiting_entries'), 0)

  // While a gateway is replaced, one of the two sends: each entry arrives once.
  for (let n = 20; n < 30; n++) await caller.call(n)
  gateway.signal('SIGUSR2')
  const { pid } = await gateway.logged('ready', ({ pid }) => pid !== gateway.pid)
  t.after(() => process.kill(Number(pid), 'SIGKILL'))
  for (let n = 30; n < 40; n++) await caller.call(n)
  await until(() => linesIn(path).length >= 41)
  await until(() => spooled(gateway) === 0)
  assert.deepEqual(
    linesIn(path)
      .slice(21)
      .map(({ metadata }) => metadata?.n ?? -1)
      .sort(byNumber),
    Array.from({ length: 20 }, (_, n) => 20 + n),
  )
})

test('entries of one process arrive in the order of its calls, with bodies where that is set, and so does feedback; a reload moves them, and turns them off and on', async t => {
  const path = join(quickFolder(t, 'out'), 'calls.ndjson')
  const gateway = await startExporting(t, `file: ${path}, payloads: on`)
  const caller = await Caller.of(gateway)
  const logs = 'ai-gateway/gateways/default'
  await caller.manage('PUT', logs, { collect_logs: true })
  for (let n = 0; n < 50; n++) await caller.call(n)
  await until(() => linesIn(path).length === 50)
  const calls = linesIn(path)
  assert.deepEqual(
    calls.map(({ metadata }) => metadata?.n),
    Array.from({ length: 50 }, (_, n) => n),
  )
  assert.match(String(calls[0]!.request), /secret words/)
  await caller.manage('PATCH', `${logs}/logs/${calls[7]!.id}`, { feedback: 1, score: 90 })
  await until(() => linesIn(path).length === 51)
  const { event, call_id, feedback, score } = linesIn(path).at(-1)!
  assert.deepEqual([event, call_id, feedback, score], ['ai_call_edited', calls[7]!.id, 1, 90])

  // A reload moves the export to another file, and turns it off and on.
  const other = join(dirname(path), 'other.ndjson')
  const yaml = readFileSync(gateway.file, 'utf8')
  const reload = async (changed: string, count: number) => {
    gateway.rewrite(changed)
    await until(() => gateway.lines.filter(({ msg }) => msg === 'configuration reloaded').length === count)
  }
  await reload(yaml.replace(path, other), 1)
  await caller.call(50)
  await until(() => linesIn(other).length === 1)
  await reload(yaml.replace(/ {2}log_export.*\n/, ''), 2)
  await caller.call(51)
  await until(async () => (await sample(gateway, 'gatehouse_ai_log_queued_entries')) === 0)
  await until(async () => (await sample(gateway, 'gatehouse_ai_log_export_waiting_entries')) === undefined)
  await reload(yaml, 3)
  await caller.call(52)
  await until(() => linesIn(path).length === 52)
  assert.equal(linesIn(path).at(-1)!.metadata?.n, 52)
  assert.equal(linesIn(other)[0]!.metadata?.n, 50)
})

test('entries that were flushed outlive kill -9 of all processes, while the destination cannot be written', async t => {
  const folder = join(quickFolder(t, 'out'), 'later')
  const path = join(folder, 'calls.ndjson')
  const gateway = await startExporting(t, `file: ${path}`, 'workers: 2')
  const caller = await Caller.of(gateway)
  for (let n = 0; n < 30; n++) await caller.call(n)
  await until(() => spooled(gateway) === 30)
  await gateway.logged('AI log export failed, entries wait on the disk')
  const workers = String(readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`))
    .trim()
    .split(' ')
  for (const pid of [gateway.pid, ...workers.map(Number)]) process.kill(pid, 'SIGKILL')
  await gateway.exited
  mkdirSync(folder)
  const next = await startAgain(t, gateway)
  await caller.at(next).call(30)
  await until(() => new Set(linesIn(path).map(({ id }) => id)).size === 31)
  assert.equal(linesIn(path).at(-1)!.metadata?.n, 30)
  await until(() => spooled(next) === 0)
})

test('an address gets every entry in order, though it dies and refuses in between, and its batches are signed; a refused one waits until it is accepted', async t => {
  const secret = randomBytes(32).toString('base64')
  const receiver = await Receiver.start(t)
  const gateway = await startExporting(
    t,
    `https: { url: '${receiver.url}/in', secrets: ['${secret}'], headers: { authorization: a } }`,
  )
  const caller = await Caller.of(gateway)
  await caller.call(0)
  await until(() => receiver.lines.length === 1)
  receiver.stop()
  for (let n = 1; n < 10; n++) await caller.call(n)
  await gateway.logged('AI log export failed, entries wait on the disk')
  await receiver.start()
  await gateway.logged('AI log export works again')
  await until(() => receiver.lines.length === 10)
  // It has the batch, and nobody learns it.
  receiver.respond = (_, response) => response.destroy()
  await caller.call(10)
  await until(() => receiver.lines.length > 10)
  receiver.respond = ok
  await until(() => new Set(receiver.batches.map(({ id }) => id)).size < receiver.batches.length)
  const numbers = receiver.lines.map(({ metadata }) => metadata?.n)
  assert.deepEqual([...new Set(numbers)], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  const [program] = blocksOf(section(readPage('docs/log-export.md'), 'Verify a batch'))
  const { isSigned } = await import(`data:text/javascript,${encodeURIComponent(program!.text)}`)
  for (const { headers, body } of receiver.batches) {
    assert.equal(isSigned(headers, body, secret), true)
    assert.equal(isSigned(headers, body, randomBytes(32).toString('base64')), false)
  }

  // A batch that it refuses waits until it is accepted, and calls go on.
  receiver.respond = (_, response) => response.writeHead(401).end('who are you?')
  await caller.call(11)
  const { needs_change } = await gateway.logged(
    'AI log export failed, entries wait on the disk',
    ({ reason }) => reason === 'status 401: who are you?',
  )
  assert.equal(needs_change, true)
  assert.equal(await sample(gateway, 'gatehouse_ai_log_export_failures_total{kind="rejected"}'), 1)
  await caller.call(12)
  await until(async () => (await sample(gateway, 'gatehouse_ai_log_export_waiting_entries')) === 2)
  const accepted = receiver.accepted.length
  receiver.respond = ok
  // Who repairs the configuration does not wait for the next attempt.
  gateway.rewrite(readFileSync(gateway.file, 'utf8').replace('authorization: a', 'authorization: b'))
  await until(() => receiver.accepted.length === accepted + 2)
  assert.equal(receiver.batches.at(-1)!.headers.authorization, 'b')
})

test('a stand-in with the routes of ClickHouse, set up as the guide says, has each entry once', async t => {
  const { table, yaml } = clickHouseOf(section(readPage('docs/log-export.md'), 'ClickHouse'))
  const rows = new Map<string, Line[]>()
  const receiver = await Receiver.start(t)
  let isFirst = true
  receiver.respond = ({ url, headers, lines }, response) => {
    const { searchParams } = new URL(url, receiver.url)
    const isKnown = headers['x-clickhouse-user'] === 'gatehouse' && headers['x-clickhouse-key'] === 'sesame'
    if (!isKnown) return void response.writeHead(403).end('Code: 516. Authentication failed')
    if (searchParams.get('query') !== 'INSERT INTO ai_calls FORMAT JSONEachRow')
      return void response.writeHead(400).end('Code: 62. Syntax error')
    assert.deepEqual(
      ['input_format_skip_unknown_fields', 'date_time_input_format'].map(name => searchParams.get(name)),
      ['1', 'best_effort'],
    )
    const token = searchParams.get('insert_deduplication_token')!
    if (!rows.has(token)) rows.set(token, lines)
    // Inserted, but the response is lost.
    if (isFirst) response.destroy()
    else response.end()
    isFirst = false
  }
  const [, url = ''] = /url: "https:\/\/clickhouse\.example:8443(.*)"/.exec(yaml) ?? []
  const [, headers = ''] = /headers: (\{.*\})/.exec(yaml) ?? []
  const gateway = await startExporting(
    t,
    `https: { url: '${receiver.url}${url}', headers: ${headers.replace(/'\$.*'/, 'sesame')} }`,
  )
  const caller = await Caller.of(gateway)
  for (let n = 0; n < 5; n++) await caller.call(n)
  await until(async () => (await sample(gateway, sent)) === 5)
  assert.ok(receiver.batches.length > rows.size)
  const inserted = [...rows.values()].flat()
  assert.deepEqual(
    inserted.map(({ metadata }) => metadata?.n),
    [0, 1, 2, 3, 4],
  )
  const columns = Array.from(table.matchAll(/^ {2}(\w+) /gm), ([, name]) => name!)
  const members = new Set(
    JSON.stringify(readFileSync(join(root, 'docs/log-export.schema.json'), 'utf8')).match(/\w+/g),
  )
  assert.deepEqual(
    columns.filter(name => !members.has(name)),
    [],
  )
})

test('renamed files can be moved away while entries go on, as the guide does for S3-compatible storage', async t => {
  const page = section(readPage('docs/log-export.md'), 'S3-compatible storage')
  assert.match(page.text, /--include 'ai-calls-\*\.ndjson'/)
  const folder = quickFolder(t, 'out')
  const path = join(folder, 'ai-calls.ndjson')
  const gateway = await startExporting(t, `file: { path: ${path}, max_size: 1MiB, keep: off }, payloads: on`)
  const caller = await Caller.of(gateway)
  await caller.manage('PUT', 'ai-gateway/gateways/default', { collect_logs: true })
  const moved: Line[] = []
  const move = () => {
    for (const name of readdirSync(folder)
      .filter(name => /^ai-calls-.*\.ndjson$/.test(name))
      .sort()) {
      moved.push(...linesIn(join(folder, name)))
      rmSync(join(folder, name))
    }
  }
  const large = 'x'.repeat(60_000)
  for (let n = 0; n < 60; n++) {
    await caller.call(n, 'default', large)
    move()
  }
  await until(async () => (await sample(gateway, sent)) === 60)
  move()
  assert.ok(moved.length > 0)
  const all = [...moved, ...linesIn(path)].map(({ metadata }) => metadata?.n)
  assert.deepEqual(
    all,
    Array.from({ length: 60 }, (_, n) => n),
  )
})

/** Returns the two blocks of a section. */
function clickHouseOf(page: Page): { readonly table: string; readonly yaml: string } {
  const [table, yaml] = blocksOf(page).map(({ text }) => text)
  return { table: table!, yaml: yaml! }
}

interface ReceivedBatch {
  readonly id: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly lines: readonly Line[]
}

type Respond = (batch: ReceivedBatch & { readonly lines: Line[] }, response: ServerResponse) => void

const ok: Respond = (_, response) => void response.writeHead(204).end()

/** An address that gets batches, and can go and come back. */
class Receiver {
  readonly batches: ReceivedBatch[] = []
  /** Lines of batches that were accepted. */
  readonly accepted: Line[] = []
  respond = ok
  #server: Server | null = null
  #port = 0

  static async start(t: TestContext): Promise<Receiver> {
    const receiver = new Receiver()
    await receiver.start()
    t.after(() => receiver.stop())
    return receiver
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get lines(): Line[] {
    return this.batches.flatMap(({ lines }) => lines)
  }

  async start(): Promise<void> {
    const server = createServer(async (request, response) => {
      const { headers, url = '' } = request
      const body = await buffer(request)
      const text = gunzipSync(body).toString().trimEnd()
      const lines = text.split('\n').map((line): Line => JSON.parse(line))
      const batch = { id: String(headers['svc-export-id']), url, headers, body, lines }
      this.batches.push(batch)
      this.respond(batch, response)
      if (response.statusCode < 300 && !response.destroyed) this.accepted.push(...lines)
    })
    this.#server = server.listen(this.#port, '127.0.0.1')
    await once(server, 'listening')
    this.#port = (server.address() as AddressInfo).port
  }

  stop(): void {
    this.#server?.close()
    this.#server?.closeAllConnections()
  }
}

function byNumber(a: number, b: number): number {
  return a - b
}
