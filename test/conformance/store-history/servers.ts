// A primary of Redis, two replicas and three Sentinels on three machines, and two gateways on two more.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { Redis } from 'ioredis'
import { main, type RunningGateway, spawnGateway, writeConfig } from '../../help/gateway.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { until } from '../../help/until.ts'
import { CountingProvider } from './calls.ts'
import { Disk } from './disk.ts'
import { type Machine, Network } from './namespaces.ts'

/** The program of each server and Sentinel. */
export const redisServer = process.env.REDIS_SERVER || 'redis-server'

/** A Redis or a Sentinel on a machine of the network. */
export class Server {
  readonly machine: Machine
  /** Where it keeps its files. */
  readonly disk: Disk
  readonly #args: readonly string[]
  readonly #client: Redis
  #child: ChildProcess | null = null

  constructor(machine: Machine, disk: Disk, port: number, args: readonly string[]) {
    this.machine = machine
    this.disk = disk
    this.#args = args
    // Asked again and again, since it may be stopped or about to start.
    const options = {
      lazyConnect: true,
      commandTimeout: 1_000,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 100,
    }
    this.#client = new Redis(port, machine.control, options).on('error', () => {})
  }

  async start(): Promise<void> {
    const [program, ...by] = this.machine.by
    const child = spawn(program!, [...by, ...this.#args], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    for await (const line of createInterface(child.stdout!))
      if (/Ready to accept connections|Sentinel ID is/.test(line)) return void child.stdout!.resume()
    throw new Error(`${this.#args[0]} ended`)
  }

  async kill(): Promise<void> {
    const child = this.#child
    const isOver = this.hasEnded
    this.#child = null
    if (child === null || isOver) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
  }

  /** Whether it is not running, be it that it was killed or that it gave up. */
  get hasEnded(): boolean {
    const child = this.#child
    return child === null || child.signalCode !== null || child.exitCode !== null
  }

  get pid(): number {
    return this.#child!.pid!
  }

  async ask(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#client.call(name, ...args)
  }

  async end(): Promise<void> {
    this.#client.disconnect()
    await this.kill()
    this.disk.end()
  }
}

export interface Town {
  readonly network: Network
  readonly servers: readonly Server[]
  readonly sentinels: readonly Server[]
  readonly gateways: readonly TownGateway[]
  readonly provider: CountingProvider
  readonly account: string
  /** The token of the first start, which may do everything. */
  readonly token: string
  /** Returns the server that most Sentinels call the primary; null where they disagree. */
  primary(): Promise<Server | null>
}

/** A gateway on a machine of the network, whose addresses stay when it is started again. */
export class TownGateway {
  readonly machine: Machine
  readonly #t: TestContext
  readonly #file: string
  readonly #options: { readonly env: NodeJS.ProcessEnv }
  #gateway: RunningGateway | null = null

  constructor(t: TestContext, machine: Machine, file: string, env: NodeJS.ProcessEnv) {
    this.machine = machine
    this.#t = t
    this.#file = file
    this.#options = { env }
  }

  get edge(): string {
    return this.#gateway!.edge
  }

  get admin(): string {
    return this.#gateway!.admin
  }

  get firstStart(): RunningGateway['firstStart'] {
    return this.#gateway!.firstStart
  }

  async start(): Promise<void> {
    const args = [main, 'start', '--config', this.#file]
    this.#gateway = await spawnGateway(this.#t, args, this.#options, this.#file, this.machine.by)
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL')
    await this.#gateway!.exited
  }

  signal(signal: NodeJS.Signals): void {
    this.#gateway!.signal(signal)
  }

  /** Has it follow the store as it is, and returns what it missed there. */
  accept(): string {
    const [program, ...by] = this.machine.by
    const command = [...by, process.execPath, main, 'store', 'accept', '--config', this.#file]
    return execFileSync(program!, command, { ...this.#options, encoding: 'utf8' })
  }
}

/** How often Redis syncs its append-only file. */
export type Fsync = 'always' | 'everysec'

export async function settle(t: TestContext, fsync: Fsync): Promise<Town> {
  const network = new Network()
  t.after(() => network.end())
  const machines: Machine[] = []
  for (let i = 0; i < 5; i++) machines.push(await network.add())
  const places = machines.slice(0, 3)
  const servers = await Promise.all(
    places.map((place, i) => startServer(t, place, fsync, i > 0 ? machines[0]! : null)),
  )
  const sentinels = await Promise.all(places.map(place => startSentinel(t, place, machines[0]!)))
  const isMet = async (sentinel: Server) =>
    String(await sentinel.ask('INFO', 'sentinel').catch(() => '')).includes('slaves=2,sentinels=3')
  await until(async () => (await Promise.all(sentinels.map(isMet))).every(Boolean))
  await until(async () => Number(await servers[0]!.ask('WAIT', 2, 500).catch(() => 0)) === 2)
  const provider = new CountingProvider()
  await provider.start(t, network.control)
  const env = {
    PROVIDER: provider.url,
    STORE: `redis+sentinel://${places.map(({ address }) => `${address}:${sentinelPort}`).join(',')}/main`,
    GATEHOUSE_SECRETS_KEY: randomBytes(32).toString('hex'),
  }
  const first = await startGateway(t, machines[3]!, env)
  const { account, token } = await first.firstStart
  const gateways = [first, await startGateway(t, machines[4]!, env)]
  const primary = () => primaryOf(servers, sentinels)
  return { network, servers, sentinels, gateways, provider, account, token, primary }
}

const serverPort = 6379
const sentinelPort = 26379

async function startServer(
  t: TestContext,
  machine: Machine,
  fsync: Fsync,
  primary: Machine | null,
): Promise<Server> {
  const disk = new Disk('redis')
  // Sentinels write into it whose replica it is.
  const file = join(quickFolder(t, 'redis'), 'redis.conf')
  const lines = [
    `port ${serverPort}`,
    'protected-mode no',
    `dir ${disk.folder}`,
    'save ""',
    'appendonly yes',
    `appendfsync ${fsync}`,
    'repl-diskless-sync-delay 0',
    'repl-timeout 2',
    'repl-backlog-size 16mb',
    `replica-announce-ip ${machine.address}`,
    ...(primary === null ? [] : [`replicaof ${primary.address} ${serverPort}`]),
  ]
  writeFileSync(file, lines.join('\n'))
  const args = [redisServer, file]
  return begin(t, new Server(machine, disk, serverPort, args))
}

async function startSentinel(t: TestContext, machine: Machine, primary: Machine): Promise<Server> {
  const disk = new Disk('sentinel')
  const file = join(disk.folder, 'sentinel.conf')
  const lines = [
    `port ${sentinelPort}`,
    'protected-mode no',
    `sentinel announce-ip ${machine.address}`,
    `sentinel monitor main ${primary.address} ${serverPort} 2`,
    'sentinel down-after-milliseconds main 500',
    'sentinel failover-timeout main 3000',
    'sentinel parallel-syncs main 2',
  ]
  writeFileSync(file, lines.join('\n'))
  const args = [redisServer, file, '--sentinel']
  return begin(t, new Server(machine, disk, sentinelPort, args))
}

async function begin(t: TestContext, server: Server): Promise<Server> {
  t.after(() => server.end())
  await server.start()
  return server
}

async function startGateway(t: TestContext, machine: Machine, env: NodeJS.ProcessEnv): Promise<TownGateway> {
  const yaml = `
listen: ['${machine.control}:8080']
admin: ${machine.control}:8081
workers: 0
store: { url: '\${STORE}', grace: 1s }
secrets: { key: '\${GATEHOUSE_SECRETS_KEY}' }
ai: { hosts: [${machine.control}], providers: { openai: { url: '\${PROVIDER}', keys: [sk] } } }
zones: []
`
  const file = writeConfig(t, yaml)
  const data = quickFolder(t, 'data')
  mkdirSync(data, { recursive: true })
  const gateway = new TownGateway(t, machine, file, { ...process.env, ...env, GATEHOUSE_DATA: data })
  await gateway.start()
  return gateway
}

async function primaryOf(servers: readonly Server[], sentinels: readonly Server[]): Promise<Server | null> {
  const replies = await Promise.all(
    sentinels.map(sentinel => sentinel.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main').catch(() => null)),
  )
  const addresses = replies.map(reply => (reply as string[] | null)?.[0])
  return (
    servers.find(
      ({ machine }) => addresses.filter(address => address === machine.address).length * 2 > sentinels.length,
    ) ?? null
  )
}
