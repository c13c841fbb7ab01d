// Reloads, upgrades and kills a gateway while clients of every kind use it, and says what they noticed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { main } from './gateway.ts'
import { freePort } from './free-port.ts'
import { type Failure, MixedLoad, serveLoad } from './mixed-load.ts'
import { SharedLog } from './shared-log.ts'
import { until } from './until.ts'

type Deed = 'reload' | 'upgrade' | 'kill'

interface Plan {
  readonly workers: number
  /** Ms from one deed to the next; each is waited for. */
  readonly pause: number
  readonly deeds: readonly Deed[]
  readonly clients?: number
}

export interface Findings {
  readonly counts: Readonly<Record<string, number>>
  /** Those of requests that no killed worker held. */
  readonly failures: readonly Failure[]
  /** How many requests failed that a killed worker held. */
  readonly lost: number
  /** What the last gateway has counted of all, by name. */
  readonly metrics: string
  /** Ms from the signal until the next gateway served, of each upgrade. */
  readonly upgrades: readonly number[]
}

/** What the log has where a deed came to nothing. */
const failure = /^(?:upgrade|configuration reload) failed|^upgrade refused|crashed/

/** Runs a gateway under load, and does to it what the plan says, in that order. */
export async function runTrial({ workers, pause, deeds, clients = 2 }: Plan): Promise<Findings> {
  await using gateway = await startGateway(workers)
  const load = new MixedLoad(gateway, clients)
  const held = new Set<number>()
  const upgrades: number[] = []
  await sleep(pause)
  for (const deed of deeds) {
    if (deed === 'reload') await gateway.reload()
    else if (deed === 'upgrade') upgrades.push(await gateway.upgrade())
    else for (const port of await gateway.kill()) held.add(port)
    await sleep(pause)
  }
  await load.stop()
  const failures = load.failures.filter(({ from }) => !held.has(from))
  const lost = load.failures.length - failures.length
  const metrics = await (await fetch(`http://127.0.0.1:${gateway.admin}/metrics`)).text()
  return { counts: load.counts, failures, lost, metrics, upgrades }
}

async function startGateway(workers: number) {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-upgrade-'))
  const origin = createServer(serveLoad)
  const sockets = new WebSocketServer({ server: origin })
  sockets.on('connection', socket =>
    socket.on('message', message => socket.send(message)).on('error', () => {}),
  )
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const [port, securePort, admin] = await Promise.all([freePort(), freePort(), freePort()])
  const { cert, key } = selfSigned('127.0.0.1')
  writeFileSync(join(folder, 'cert.pem'), cert)
  writeFileSync(join(folder, 'key.pem'), key)
  const file = join(folder, 'gatehouse.yaml')
  const write = (round: number) =>
    writeFileSync(
      file,
      `
workers: ${workers}
listen: ['127.0.0.1:${port}', {address: '127.0.0.1:${securePort}', tls: true}]
admin: 127.0.0.1:${admin}
tls: {certificates: [{certificate: 'file:cert.pem', key: 'file:key.pem'}]}
log: {access: false}
timeouts: {connect: ${10 + round}s}
pools: {site: {origins: ['http://127.0.0.1:${(origin.address() as AddressInfo).port}']}}
zones: [{name: site, hosts: [127.0.0.1], default: true, routes: [{path: /, pool: site}]}]
`,
    )
  write(0)
  const env = { ...process.env, GATEHOUSE_DATA: join(folder, 'data') }
  const child = spawn(process.execPath, [main, 'start', '--config', file], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const log = new SharedLog(child)
  await log.nth('ready')
  let pid = child.pid!
  let round = 0
  let count = 0
  return {
    port,
    securePort,
    admin,
    async reload() {
      write(++round)
      process.kill(pid, 'SIGHUP')
      await log.nth('configuration reloaded', round, failure)
    },
    async upgrade() {
      const begun = performance.now()
      process.kill(pid, 'SIGUSR2')
      pid = (await log.nth('upgraded: the new gateway serves', ++count, failure)).next!
      return performance.now() - begun
    },
    async kill() {
      await until(() => workersOf(pid).length === workers)
      const [victim] = workersOf(pid)
      // It stands still, so what it holds now is what it held.
      process.kill(victim!, 'SIGSTOP')
      await until(() => isStopped(victim!))
      const held = clientPortsOf(victim!, [port, securePort])
      process.kill(victim!, 'SIGKILL')
      return held
    },
    async [Symbol.asyncDispose]() {
      if (isAlive(pid)) process.kill(pid, 'SIGTERM')
      await log.closed
      sockets.close()
      origin.close()
      origin.closeAllConnections()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Returns the processes that serve under a supervisor. */
function workersOf(pid: number): readonly number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return list
    .split(' ')
    .map(Number)
    .filter(child => commandOf(child).includes('edge-worker'))
}

/** Whether a process stands still (proc_pid_stat(5)): the signal takes it some time. */
function isStopped(pid: number): boolean {
  return / T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\)/s, ''))
}

/** Returns nothing for a process that has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

/** Returns the ports of the clients whose connections a process has accepted (proc_net_tcp(5)). */
function clientPortsOf(pid: number, ports: readonly number[]): readonly number[] {
  const folder = `/proc/${pid}/fd`
  const inodes = new Set(
    readdirSync(folder).map(fd => /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, fd)))?.[1]),
  )
  const rows = readFileSync('/proc/net/tcp', 'latin1')
    .split('\n')
    .map(row => row.trim().split(/\s+/))
  return rows
    .filter(
      ([, local, , , , , , , , inode]) =>
        inode !== undefined && inodes.has(inode) && ports.includes(portOf(local!)),
    )
    .map(([, , remote]) => portOf(remote!))
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1]!, 16)
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
