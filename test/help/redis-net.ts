// Redis servers and Sentinels in a network whose links can be cut: each has an address of its own to speak from, and is reached by the others
// through a relay that knows who speaks. A link that is cut loses nothing and ends nothing, as in a network; what was sent comes when it is whole again.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { freePort } from './free-port.ts'
import { type RedisServer, startRedis } from './redis.ts'
import { until } from './until.ts'

/** How clients speak; nodes speak from 127.0.1.1 on. */
const clientAddress = '127.0.0.1'

export class Network {
  readonly #links = new Set<Link>()
  /** Who can speak with whom, by address; all with all where there is no more than one side. */
  #sides: readonly ReadonlySet<string>[] = []

  /** Opens a relay to what listens on a port as the node of an address. */
  async relay(t: TestContext, port: number, address: string): Promise<number> {
    const server: Server = createServer({ pauseOnConnect: true }, from => {
      const link = new Link(from, connect(port, '127.0.0.1'), [from.remoteAddress!, address])
      this.#links.add(link)
      link.onEnd(() => this.#links.delete(link))
      link.flow(this.#joins(link.ends))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.close()
      for (const link of this.#links) link.end()
    })
    return (server.address() as AddressInfo).port
  }

  /** Cuts all links between those of one side and all others. */
  isolate(...side: readonly string[]): void {
    this.#sides = [new Set(side)]
    this.#apply()
  }

  heal(): void {
    this.#sides = []
    this.#apply()
  }

  #apply(): void {
    for (const link of this.#links) link.flow(this.#joins(link.ends))
  }

  #joins([a, b]: Link['ends']): boolean {
    return this.#sides.every(side => side.has(a) === side.has(b))
  }
}

class Link {
  readonly ends: readonly [string, string]
  readonly #sockets: readonly [Socket, Socket]
  #flows = true
  #isOver = false

  constructor(from: Socket, to: Socket, ends: readonly [string, string]) {
    this.ends = ends
    this.#sockets = [from, to]
    for (const [socket, other] of [
      [from, to],
      [to, from],
    ] as const) {
      socket.setNoDelay(true)
      socket.on('data', bytes => other.write(bytes))
      socket.on('error', () => {})
      socket.on('close', () => {
        this.#isOver = true
        if (this.#flows) this.end()
      })
    }
  }

  flow(flows: boolean): void {
    this.#flows = flows
    if (flows && this.#isOver) return this.end()
    for (const socket of this.#sockets) {
      if (flows) socket.resume()
      else socket.pause()
    }
  }

  onEnd(listener: () => void): void {
    this.#sockets[0].once('close', listener)
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

export interface Node {
  readonly server: RedisServer
  readonly address: string
  /** Where others reach it. */
  readonly port: number
}

export interface SentinelNet {
  readonly network: Network
  /** The primary comes first. */
  readonly nodes: readonly Node[]
  readonly sentinels: readonly Node[]
  readonly url: string
  readonly clientAddress: string
  /** Returns the node that most Sentinels call the primary. */
  primary(): Promise<Node>
}

export interface NetOptions {
  readonly replicas?: number
  readonly sentinels?: number
  /** Ms after which a Sentinel takes a silent server for down. */
  readonly downAfter?: number
  readonly args?: readonly string[]
  /** The password that the Sentinels want, of each other, too. */
  readonly password?: string
}

/** Starts a primary, its replicas and their Sentinels, and waits until these know of all. */
export async function startSentinelNet(t: TestContext, options: NetOptions = {}): Promise<SentinelNet> {
  const { replicas = 2, sentinels: count = 3, downAfter = 500, args = [], password } = options
  const network = new Network()
  const nodes: Node[] = []
  const sentinels: Node[] = []
  for (let i = 0; i <= replicas; i++) {
    const address = `127.0.1.${i + 1}`
    const [port, own] = await place(t, network, address)
    const follow = i > 0 ? ['--replicaof', `127.0.0.1 ${nodes[0]!.port}`] : []
    const names = ['--bind-source-addr', address, '--replica-announce-ip', '127.0.0.1']
    const all = [
      ...names,
      '--replica-announce-port',
      String(port),
      '--repl-backlog-size',
      '16mb',
      ...follow,
      ...args,
    ]
    nodes.push({ server: await startRedis(t, { port: own, args: all }), address, port })
  }
  const { server: primary, port: primaryPort } = nodes[0]!
  await until(async () => Number(await primary.ask('WAIT', replicas, 100)) >= replicas)
  for (let i = 0; i < count; i++) {
    const address = `127.0.2.${i + 1}`
    const [port, own] = await place(t, network, address)
    const sentinel = [
      `bind-source-addr ${address}`,
      'sentinel announce-ip 127.0.0.1',
      `sentinel announce-port ${port}`,
      `sentinel monitor main 127.0.0.1 ${primaryPort} ${Math.floor(count / 2) + 1}`,
      `sentinel down-after-milliseconds main ${downAfter}`,
      'sentinel failover-timeout main 3000',
      'sentinel parallel-syncs main 2',
      ...(password === undefined ? [] : [`requirepass ${password}`]),
    ].join('\n')
    sentinels.push({ server: await startRedis(t, { port: own, sentinel, password }), address, port })
  }
  const isMet = async ({ server }: Node) =>
    String(await server.ask('INFO', 'sentinel')).includes(`slaves=${replicas},sentinels=${count}`)
  await until(async () => (await Promise.all(sentinels.map(isMet))).every(Boolean))
  return {
    network,
    nodes,
    sentinels,
    clientAddress,
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/main`,
    primary: () => primaryOf(nodes, sentinels),
  }
}

async function place(t: TestContext, network: Network, address: string): Promise<readonly [number, number]> {
  const own = await freePort()
  return [await network.relay(t, own, address), own]
}

async function primaryOf(nodes: readonly Node[], sentinels: readonly Node[]): Promise<Node> {
  const answers = await Promise.all(
    sentinels.map(({ server }) => server.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main')),
  )
  const ports = answers.map(answer => Number((answer as string[])[1]))
  const most = ports.find(port => ports.filter(other => other === port).length * 2 > ports.length)
  const found = nodes.find(({ port }) => port === most)
  if (!found) throw new Error('the Sentinels are not of one mind')
  return found
}
