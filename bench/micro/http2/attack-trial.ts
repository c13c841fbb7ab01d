// What trials of attacks over HTTP/2 have in common. Gateway and nginx have core 0 to themselves; core 1 has whoever asks, at the usual priority, and the attacker at the lowest,
// so that the times are those of the server. Attackers come without TLS, which would keep them busier than us.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../test/help/free-port.ts'
import { startGateway } from '../../../test/help/gateway.ts'
import { until } from '../../../test/help/until.ts'
import { statusOf } from '../../load/launch.ts'
import type { Counts, Orders } from './attacker.ts'

export const rounds = Number(process.env.ROUNDS ?? 5)
const only = process.env.ONLY ?? ''
const ourCore = '0'
export const othersCore = '1'

/** What was measured of one server, with or without an attack. */
export interface Figures {
  /** Ms that each request of others took, in the order in which they were sent. */
  readonly times: readonly number[]
  /** µs of CPU that the server has used. */
  readonly cpu: number
  readonly counts: Counts
}

export interface Server {
  readonly pid: number
  readonly port: number
}

const ends: (() => unknown)[] = []
const bench = { after: (end: () => unknown) => ends.push(end) } as unknown as TestContext
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-attacks-'))
ends.push(() => rmSync(folder, { recursive: true, force: true }))

/** Runs a trial with an origin behind the servers, and ends all that was started for it. */
export async function run(trial: (origin: number) => Promise<void>): Promise<void> {
  try {
    const { port } = await startNginx(
      'origin',
      othersCore,
      at => `listen 127.0.0.1:${at}; location / { return 200 hello; }`,
    )
    await trial(port)
  } finally {
    for (const end of ends.reverse()) await end()
  }
}

/** Returns the names of those attacks that are asked for. */
export function namesOf<Name extends string>(kinds: Readonly<Record<Name, unknown>>): Name[] {
  const parts = only.split(',')
  return (Object.keys(kinds) as Name[]).filter(name => parts.some(part => name.includes(part)))
}

/** Has others send requests for some seconds, during an attack or none. */
export async function measure(
  server: Server,
  victim: ChildProcess,
  seconds: number,
  orders: Orders | null,
): Promise<Figures> {
  const attacker = orders === null ? null : startScript('attacker.ts', ['nice', '-n', '19'])
  const before = cpuOf(server.pid)
  const measured = once(victim, 'message')
  if (attacker !== null) {
    await once(attacker, 'spawn')
    attacker.send(orders!)
    await once(attacker, 'message')
  }
  victim.send({ port: server.port, seconds })
  const [times] = await measured
  const cpu = cpuOf(server.pid) - before
  let counts: Counts = { connections: 0, bytes: 0 }
  if (attacker !== null) {
    attacker.send('stop')
    ;[counts] = await once(attacker, 'message')
    attacker.kill('SIGKILL')
  }
  return { times, cpu, counts }
}

/** Returns the µs of CPU that a process and its threads have used. */
function cpuOf(pid: number): number {
  let sum = 0
  for (const task of readdirSync(`/proc/${pid}/task`))
    sum += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0])
  return sum / 1000
}

/** Writes a line of a table. */
export function line([name, ...values]: readonly string[]): void {
  console.log(name!.padEnd(44) + values.map(value => value.replace('NaN', '-').padStart(13)).join(''))
}

// ── processes ──

/** Starts a gateway on its core, before the origin and one that attacks, with a port for HTTP/2 and a plain one. */
export async function startOurs(origin: number, badOrigin: number | null) {
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

/** Starts nginx with a server on a port of its own; where it is the proxy, the port behind that speaks HTTP/1.1. */
export async function startNginx(
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

/** Starts one of the scripts beside this one. */
export function startScript(
  name: string,
  by: readonly string[] = [],
  args: readonly string[] = [],
): ChildProcess {
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
