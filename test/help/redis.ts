// Redis servers of a test's own: each on ports that stay its own, in a folder that goes with it. REDIS_SERVER names another binary.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { Redis } from 'ioredis'
import { freePort } from './free-port.ts'
import { endWithTests } from './lifeline.ts'
import { quickFolder } from './quick-folder.ts'
import { until } from './until.ts'

export interface RedisSettings {
  /** How often the append-only file is synced; false for none. */
  readonly aof?: 'always' | 'everysec' | 'no' | false
  readonly port?: number
  /** Further arguments, such as `--requirepass`. */
  readonly args?: readonly string[]
  /** Runs as a Sentinel on this configuration. */
  readonly sentinel?: string
  /** What `ask` shows. */
  readonly password?: string | undefined
}

export class RedisServer {
  readonly port: number
  readonly #args: readonly string[]
  readonly #password: string | undefined
  readonly #clients: Redis[] = []
  #child: ChildProcess | null = null

  constructor(port: number, args: readonly string[], password?: string) {
    this.port = port
    this.#args = args
    this.#password = password
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Starts it and waits until it takes connections. */
  async start(): Promise<void> {
    const binary = process.env.REDIS_SERVER ?? 'redis-server'
    const child = spawn(binary, this.#args, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#child = child
    if (child.pid !== undefined) child.once('exit', endWithTests(child.pid))
    const said: string[] = []
    for await (const line of createInterface(child.stdout!)) {
      said.push(line)
      if (/Ready to accept connections|Sentinel ID is/.test(line)) return void child.stdout!.resume()
    }
    await this.kill()
    throw new Error(`${binary} ended: ${said.join('\n')}`)
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  /** Starts it again on its port and its files. */
  async restart(): Promise<void> {
    await this.kill()
    await this.start()
  }

  /** Makes it hang, without ending any connection. */
  stop(): void {
    this.#child?.kill('SIGSTOP')
  }

  cont(): void {
    this.#child?.kill('SIGCONT')
  }

  /** Asks a command as a client of its own. */
  async ask(name: string, ...args: (string | number)[]): Promise<unknown> {
    if (this.#clients.length === 0) {
      this.#clients.push(
        new Redis(this.port, '127.0.0.1', {
          retryStrategy: () => 50,
          ...(this.#password === undefined ? {} : { password: this.#password }),
        }).on('error', () => {}),
      )
    }
    return this.#clients[0]!.call(name, ...args)
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    await this.kill()
  }
}

/** Starts a server that ends with the test. */
export async function startRedis(t: TestContext, settings: RedisSettings = {}): Promise<RedisServer> {
  const port = settings.port ?? (await freePort())
  let server: RedisServer | null = null
  // Before the folder goes.
  t.after(() => server?.end())
  server = new RedisServer(port, argumentsOf(settings, port, quickFolder(t, 'redis')), settings.password)
  await server.start()
  return server
}

/** Has a server that was started as a daemon end with the test; `info` is what INFO says of it. */
export function endDaemon(t: TestContext, info: string): void {
  const pid = Number(/^process_id:(\d+)/m.exec(info)![1])
  const letGo = endWithTests(pid)
  t.after(() => {
    process.kill(pid, 'SIGKILL')
    letGo()
  })
}

/** Starts three primaries with the slots divided among them, and a replica of each where asked for. */
export async function startCluster(t: TestContext, replicas = 0): Promise<readonly RedisServer[]> {
  const nodes = await Promise.all(Array.from({ length: 3 + replicas }, () => startClusterNode(t)))
  const bounds = [0, 5461, 10923, 16384]
  await Promise.all(
    nodes.slice(0, 3).map((node, i) => node.ask('CLUSTER', 'ADDSLOTSRANGE', bounds[i]!, bounds[i + 1]! - 1)),
  )
  const [, bus] = (await nodes[0]!.ask('CONFIG', 'GET', 'cluster-port')) as string[]
  for (const [i, node] of nodes.entries()) {
    await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', i + 1)
    if (i > 0) await node.ask('CLUSTER', 'MEET', '127.0.0.1', nodes[0]!.port, bus!)
  }
  const knows = async (node: RedisServer) =>
    String(await node.ask('CLUSTER', 'INFO')).includes(`cluster_known_nodes:${nodes.length}`)
  await until(async () => (await Promise.all(nodes.map(knows))).every(Boolean))
  for (const [i, node] of nodes.slice(3).entries()) {
    await node.ask('CLUSTER', 'REPLICATE', String(await nodes[i]!.ask('CLUSTER', 'MYID')))
  }
  const isOk = async (node: RedisServer) =>
    String(await node.ask('CLUSTER', 'INFO')).includes('cluster_state:ok')
  await until(async () => (await Promise.all(nodes.map(isOk))).every(Boolean))
  return nodes
}

export interface SentinelSet {
  readonly primary: RedisServer
  readonly replica: RedisServer
  readonly sentinel: RedisServer
  readonly url: string
}

/** Starts a primary, its replica, and a Sentinel that lets the replica take over soon after the primary is gone. */
export async function startSentinel(t: TestContext): Promise<SentinelSet> {
  const primary = await startRedis(t)
  const replica = await startRedis(t, { args: ['--replicaof', `127.0.0.1 ${primary.port}`] })
  await replicates(primary)
  const config = [
    `sentinel monitor main 127.0.0.1 ${primary.port} 1`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
  ]
  const sentinel = await startRedis(t, { sentinel: config.join('\n') })
  await until(async () => String(await sentinel.ask('INFO', 'sentinel')).includes('slaves=1'))
  return { primary, replica, sentinel, url: `redis+sentinel://127.0.0.1:${sentinel.port}/main` }
}

/** Waits until a write of the server has reached a replica. */
export async function replicates(primary: RedisServer): Promise<void> {
  await primary.ask('SET', 'replicated', 1)
  await until(async () => (await primary.ask('WAIT', 1, 1_000)) === 1)
}

async function startClusterNode(t: TestContext): Promise<RedisServer> {
  const bus = String(await freePort())
  const args = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', bus]
  return startRedis(t, { args })
}

function argumentsOf({ aof = 'always', args = [], sentinel }: RedisSettings, port: number, dir: string) {
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '']
  if (sentinel !== undefined) {
    const file = join(dir, 'sentinel.conf')
    writeFileSync(file, sentinel)
    return [file, '--sentinel', ...own.slice(0, 6)]
  }
  const disk = aof ? ['--appendonly', 'yes', '--appendfsync', aof] : ['--appendonly', 'no']
  return [...own, ...disk, '--repl-diskless-sync-delay', '0', ...args]
}
