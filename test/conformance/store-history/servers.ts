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
import { type Machine, Network } from './namespaces.ts'

/** A Redis or a Sentinel on a machine of the network. */
export class Server {
  readonly machine: Machine
  readonly #args: readonly string[]
  readonly #client: Redis
  #child: ChildProcess | null = null

  constructor(machine: Machine, port: number, args: readonly string[]) {
    this.machine = machine
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
    this.#child = null
    if (child === null || child.signalCode !== null || child.exitCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal)
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
  }
}

export interface Town {
  readonly network: Network
  readonly servers: readonly Server[]
  readonly sentinels: readonly Server[]
  readonly gateways: readonly TownGateway[]
  readonly account: string
  /** The token of the first start, which may do everything. */
  readonly token: string
  /** Returns the server that most Sentinels call the primary; null where they disagree. */
  primary(): Promise<Server | null>
}

export interface TownGateway {
  readonly machine: Machine
  readonly gateway: RunningGateway
  /** Has it follow the store as it is, and returns what it missed there. */
  accept(): string
}

export async function settle(t: TestContext): Promise<Town> {
  const network = new Network()
  t.after(() => network.end())
  const machines: Machine[] = []
  for (let i = 0; i < 5; i++) machines.push(await network.add())
  const places = machines.slice(0, 3)
  const servers = await Promise.all(
    places.map((place, i) => startServer(t, place, i > 0 ? machines[0]! : null)),
  )
  const sentinels = await Promise.all(places.map(place => startSentinel(t, place, machines[0]!)))
  const isMet = async (sentinel: Server) =>
    String(await sentinel.ask('INFO', 'sentinel')).includes('slaves=2,sentinels=3')
  await until(async () => (await Promise.all(sentinels.map(isMet))).every(Boolean))
  await until(async () => Number(await servers[0]!.ask('WAIT', 2, 500)) === 2)
  const env = {
    STORE: `redis+sentinel://${places.map(({ address }) => `${address}:${sentinelPort}`).join(',')}/main`,
    GATEHOUSE_SECRETS_KEY: randomBytes(32).toString('hex'),
  }
  const first = await startGateway(t, machines[3]!, env)
  const { account, token } = await first.gateway.firstStart
  const gateways = [first, await startGateway(t, machines[4]!, env)]
  const primary = () => primaryOf(servers, sentinels)
  return { network, servers, sentinels, gateways, account, token, primary }
}

const serverPort = 6379
const sentinelPort = 26379

async function startServer(t: TestContext, machine: Machine, primary: Machine | null): Promise<Server> {
  const folder = quickFolder(t, 'redis')
  const args = [
    process.env.REDIS_SERVER ?? 'redis-server',
    ...['--port', String(serverPort), '--protected-mode', 'no', '--dir', folder, '--save', ''],
    ...['--appendonly', 'yes', '--appendfsync', 'always', '--repl-diskless-sync-delay', '0'],
    ...['--repl-timeout', '2', '--repl-backlog-size', '16mb', '--replica-announce-ip', machine.address],
    ...(primary === null ? [] : ['--replicaof', `${primary.address} ${serverPort}`]),
  ]
  return begin(t, new Server(machine, serverPort, args))
}

async function startSentinel(t: TestContext, machine: Machine, primary: Machine): Promise<Server> {
  const file = join(quickFolder(t, 'sentinel'), 'sentinel.conf')
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
  const args = [process.env.REDIS_SERVER ?? 'redis-server', file, '--sentinel']
  return begin(t, new Server(machine, sentinelPort, args))
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
ai: { hosts: [${machine.control}], providers: { openai: { url: 'http://127.0.0.1:9' } } }
zones: []
`
  const file = writeConfig(t, yaml)
  const data = quickFolder(t, 'data')
  mkdirSync(data, { recursive: true })
  const options = { env: { ...process.env, ...env, GATEHOUSE_DATA: data } }
  const args = [main, 'start', '--config', file]
  const gateway = await spawnGateway(t, args, options, file, machine.by)
  const [program, ...by] = machine.by
  const command = [...by, process.execPath, main, 'store', 'accept', '--config', file]
  const accept = () => execFileSync(program!, command, { ...options, encoding: 'utf8' })
  return { machine, gateway, accept }
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
