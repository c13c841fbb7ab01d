// What attacks over HTTP/2 cost others, by clients and by origins: node bench/micro/http2/attacks.ts, with ROUNDS and ONLY (a part of a name). Gateway and nginx have core 0 to
// themselves; core 1 has whoever asks, at the usual priority, and the attacker at the lowest, so that the p99 is that of the server. Each attack is compared with none, with as
// many connections and bytes of ordinary requests of HTTP/1.1, and with the same attack on nginx. Attackers come without TLS, which would keep them busier than us.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../test/help/free-port.ts'
import { startGateway } from '../../../test/help/gateway.ts'
import { originAttacks } from '../../../test/help/http2-origin-attacks.ts'
import { until } from '../../../test/help/until.ts'
import { median, percentile } from '../../load/statistics.ts'
import { statusOf } from '../../load/launch.ts'
import { attacks, type Counts, type Orders } from './attacker.ts'

const rounds = Number(process.env.ROUNDS ?? 5)
const only = process.env.ONLY ?? ''
const seconds = 2
const ourCore = '0'
const othersCore = '1'

/** What was measured of one server, with or without an attack. */
interface Figures {
  readonly p99: number
  /** µs of CPU that the server has used. */
  readonly cpu: number
  readonly counts: Counts
}

interface Server {
  readonly pid: number
  readonly port: number
}

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-attacks-'))
ends.push(() => rmSync(folder, { recursive: true, force: true }))
try {
  const origin = await startNginx(
    'origin',
    othersCore,
    port => `listen 127.0.0.1:${port}; location / { return 200 hello; }`,
  )
  const nginx = await startNginx(
    'proxy',
    ourCore,
    port =>
      `listen 127.0.0.1:${port} http2; listen 127.0.0.1:${port + 1};
      location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; }`,
    `upstream origin { server 127.0.0.1:${origin.port}; keepalive 128; }`,
  )
  const victim = startScript('victim.ts')
  heading()
  await attackByClients(origin.port, nginx, victim)
  await attackByOrigins(origin.port, victim)
} finally {
  for (const end of ends.reverse()) await end()
}

async function attackByClients(origin: number, nginx: Server, victim: ChildProcess): Promise<void> {
  const { h2c, plain, stop } = await startOurs(origin, null)
  // nginx 1.22 tells by the port which version a client without TLS speaks.
  const nginxPlain = { ...nginx, port: nginx.port + 1 }
  for (const name of namesOf(attacks)) {
    const found: Record<'alone' | 'attacked' | 'plain' | 'nginxAlone' | 'nginxAttacked', Figures[]> = {
      alone: [],
      attacked: [],
      plain: [],
      nginxAlone: [],
      nginxAttacked: [],
    }
    for (let round = 0; round < rounds; round++) {
      found.alone.push(await measure(plain, victim, null))
      const attacked = await measure(plain, victim, { kind: 'client', port: h2c.port, name })
      found.attacked.push(attacked)
      found.plain.push(await measure(plain, victim, flood(plain.port, attacked.counts)))
      found.nginxAlone.push(await measure(nginxPlain, victim, null))
      found.nginxAttacked.push(await measure(nginxPlain, victim, { kind: 'client', port: nginx.port, name }))
    }
    row(`client: ${name}`, found)
  }
  await stop()
}

async function attackByOrigins(origin: number, victim: ChildProcess): Promise<void> {
  for (const name of namesOf(originAttacks)) {
    const bad = startScript('bad-origin.ts', ['nice', '-n', '19'], [name])
    const [badPort] = await once(bad, 'message')
    const { plain, stop } = await startOurs(origin, badPort)
    const found: Record<'alone' | 'attacked' | 'plain', Figures[]> = { alone: [], attacked: [], plain: [] }
    for (let round = 0; round < rounds; round++) {
      found.alone.push(await measure(plain, victim, null))
      const attacked = await measure(plain, victim, { kind: 'origin', port: plain.port, host: 'bad.example' })
      found.attacked.push(attacked)
      found.plain.push(await measure(plain, victim, flood(plain.port, attacked.counts)))
    }
    row(`origin: ${name}`, found)
    await stop()
    bad.kill('SIGKILL')
  }
}

function namesOf<Name extends string>(kinds: Readonly<Record<Name, unknown>>): Name[] {
  return (Object.keys(kinds) as Name[]).filter(name => name.includes(only))
}

/** As many connections and bytes a second as an attack had. */
function flood(port: number, { connections, bytes }: Counts): Orders {
  return { kind: 'plain', port, rate: connections / seconds, bytes: bytes / connections }
}

// ── what is measured ──

async function measure(server: Server, victim: ChildProcess, orders: Orders | null): Promise<Figures> {
  const attacker = orders === null ? null : startScript('attacker.ts', ['nice', '-n', '19'])
  if (attacker !== null) {
    attacker.send(orders!)
    await once(attacker, 'spawn')
  }
  const before = cpuOf(server.pid)
  victim.send({ port: server.port, seconds })
  const [times] = await once(victim, 'message')
  const cpu = cpuOf(server.pid) - before
  let counts: Counts = { connections: 0, bytes: 0 }
  if (attacker !== null) {
    attacker.send('stop')
    ;[counts] = await once(attacker, 'message')
    attacker.kill('SIGKILL')
  }
  return { p99: percentile(times, 99), cpu, counts }
}

/** Returns the µs of CPU that a process and its threads have used. */
function cpuOf(pid: number): number {
  let sum = 0
  for (const task of readdirSync(`/proc/${pid}/task`))
    sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0])
  return sum / 1000
}

function heading(): void {
  console.log('p99 of others in ms, and µs of CPU for each connection of the attack, beyond what others cost')
  line([
    '',
    'alone',
    'attacked',
    'ratio',
    'plain',
    'nginx alone',
    'attacked',
    'ratio',
    'conn/s',
    'KiB/conn',
    'µs/conn',
    'plain',
    'nginx',
  ])
}

function row(name: string, found: Partial<Record<string, Figures[]>>): void {
  const p99 = (of: string) => (found[of] === undefined ? Number.NaN : median(found[of].map(({ p99 }) => p99)))
  const cost = (of: string, without: string) =>
    found[of] === undefined
      ? Number.NaN
      : median(found[of].map(({ cpu, counts }, i) => (cpu - found[without]![i]!.cpu) / counts.connections))
  const { connections, bytes } = sumOf(found.attacked!.map(({ counts }) => counts))
  line([
    name,
    ...[p99('alone'), p99('attacked'), p99('attacked') / p99('alone'), p99('plain')].map(ms => ms.toFixed(2)),
    ...[p99('nginxAlone'), p99('nginxAttacked'), p99('nginxAttacked') / p99('nginxAlone')].map(ms =>
      ms.toFixed(2),
    ),
    (connections / rounds / seconds).toFixed(0),
    (bytes / connections / 1024).toFixed(1),
    ...[cost('attacked', 'alone'), cost('plain', 'alone'), cost('nginxAttacked', 'nginxAlone')].map(us =>
      us.toFixed(0),
    ),
  ])
}

function line([name, ...values]: readonly string[]): void {
  console.log(name!.padEnd(54) + values.map(value => value.replace('NaN', '-').padStart(11)).join(''))
}

function sumOf(all: readonly Counts[]): Counts {
  const sum: Counts = { connections: 0, bytes: 0 }
  for (const { connections, bytes } of all) {
    sum.connections += connections
    sum.bytes += bytes
  }
  return sum
}

// ── processes ──

/** Starts a gateway on its core, before the origin and one that attacks. */
async function startOurs(origin: number, badOrigin: number | null) {
  const h2c = await freePort()
  const bad = badOrigin === null ? '' : `bad: { origins: ['http://127.0.0.1:${badOrigin}'], http: h2c }`
  const zone =
    badOrigin === null ? '' : '{ name: bad, hosts: [bad.example], routes: [{ path: /, pool: bad }] }, '
  const gateway = await startGateway(
    bench,
    `workers: 0
admin: 127.0.0.1:0
log: { access: false }
listen: ['127.0.0.1:0', { address: '127.0.0.1:${h2c}', h2c: true }]
pools:
  site: { origins: ['http://127.0.0.1:${origin}'] }
  ${bad}
zones: [${zone}{ name: site, hosts: [shop.example], routes: [{ path: /, pool: site }] }]
`,
  )
  pin(gateway.pid, ourCore)
  const stop = async () => {
    gateway.signal('SIGTERM')
    await gateway.exited
  }
  const { pid } = gateway
  return { h2c: { pid, port: h2c }, plain: { pid, port: Number(new URL(gateway.edge).port) }, stop }
}

async function startNginx(
  name: string,
  core: string,
  server: (port: number) => string,
  http = '',
): Promise<Server> {
  const port = await freePort()
  const file = join(folder, `${name}.conf`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    of => `${of}_temp_path ${name}-${of};`,
  )
  writeFileSync(
    file,
    `master_process off; daemon off; pid ${name}.pid; error_log /dev/null;
    events { worker_connections 4096; }
    http { access_log off; keepalive_requests 1000000000; ${temporary.join(' ')} ${http} server { ${server(port)} } }`,
  )
  const child = start(core, ['nginx', '-p', folder, '-e', '/dev/null', '-c', file])
  await until(async () => (await statusOf(name === 'proxy' ? port + 1 : port)) !== null)
  return { pid: child.pid!, port }
}

function startScript(name: string, by: readonly string[] = [], args: readonly string[] = []): ChildProcess {
  const file = fileURLToPath(new URL(name, import.meta.url))
  return start(othersCore, [...by, process.execPath, file, ...args])
}

function start(core: string, command: readonly string[]): ChildProcess {
  const child = spawn('taskset', ['-c', core, ...command], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  ends.push(() => child.kill('SIGKILL'))
  return child
}

function pin(pid: number, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' })
}
