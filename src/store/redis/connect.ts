// Connections to one Redis, to the primary that Sentinels name, or to a cluster, all alike: nothing waits for one that is not there,
// and each is dialled again for ever. connection.ts builds upon them; no other file knows the driver.
import type { Writable } from 'node:stream'
import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { Address } from './address.ts'

export type Argument = string | number
export type Command = readonly [name: string, ...args: Argument[]]

/** A connection; commands reject at once while it is not ready. */
export interface Client {
  readonly isReady: boolean
  send(command: Command): Promise<unknown>
  /** Sends commands together to the node of the first; those that failed give their error. */
  sendAll(commands: readonly Command[]): Promise<readonly unknown[]>
  onReady(listener: () => void): void
  onLoss(listener: (reason: unknown) => void): void
  /** Drops the connection and dials again. */
  redial(): void
  /** Ends when what was sent is answered, or at once where it isn't ready. */
  end(): Promise<unknown>
  /** Ends at once. */
  cut(): void
}

/** What a server and the nodes of a cluster are told alike. */
type Common =
  | 'username'
  | 'password'
  | 'tls'
  | 'connectTimeout'
  | 'commandTimeout'
  | 'disconnectTimeout'
  | 'maxRetriesPerRequest'
  | 'autoResendUnfulfilledCommands'
  | 'autoResubscribe'
  | 'disableClientInfo'
  | 'connectionName'

const dialTimeout = 2_000
const shortestPause = 100
const longestPause = 2_000

/** Gives ms until the next attempt, from 1: doubled each time up to two seconds, then a random half of it. */
export function pauseBefore(attempt: number): number {
  const ceiling = Math.min(longestPause, shortestPause * 2 ** (attempt - 1))
  return Math.round(ceiling * (0.5 + Math.random() / 2))
}

/** Dials; `patience` is how long an answer may take, in ms, before the driver forgets that it waits for one. */
export function connect(address: Address, patience: number): Client {
  return wrap(address.kind === 'cluster' ? dialCluster(address, patience) : dialServer(address, patience))
}

/** Calls back for each message on a channel, and whenever it was subscribed to anew, since some may then be lost; gives what ends that. */
export function subscribe(address: Address, channel: string, onMessage: () => void): () => void {
  const driver =
    address.kind === 'cluster' ? dialCluster(address, dialTimeout) : dialServer(address, dialTimeout)
  driver.on('error', ignore)
  driver.on('ready', () => driver.subscribe(channel).then(onMessage, ignore))
  driver.on('message', onMessage)
  return () => driver.disconnect()
}

function dialServer(address: Address, patience: number): Redis {
  const { host, port } = address.hosts[0]!
  const place =
    address.kind === 'sentinel'
      ? {
          sentinels: [...address.hosts],
          name: address.name,
          sentinelRetryStrategy: pauseBefore,
          sentinelCommandTimeout: dialTimeout,
          enableTLSForSentinelMode: address.tls,
          ...(address.tls ? { sentinelTLS: {} } : {}),
        }
      : { host, port }
  return new Redis({
    ...commonOptions(address, patience),
    ...place,
    db: address.db,
    retryStrategy: pauseBefore,
    enableOfflineQueue: false,
  })
}

function dialCluster(address: Address, patience: number): Cluster {
  return new Cluster([...address.hosts], {
    redisOptions: commonOptions(address, patience),
    clusterRetryStrategy: pauseBefore,
    enableOfflineQueue: false,
    // A failed attempt is given up before the caller's time is over, so that a write is not made long after it was called lost.
    maxRedirections: 4,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    slotsRefreshTimeout: dialTimeout,
    slotsRefreshInterval: 2_000,
  })
}

function commonOptions({ username, password, tls }: Address, patience: number): Pick<RedisOptions, Common> {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: {} } : {}),
    connectTimeout: dialTimeout,
    // Also the time in which a server that accepted must have greeted.
    commandTimeout: patience + dialTimeout,
    disconnectTimeout: 100,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    connectionName: 'gatehouse',
  }
}

function wrap(driver: Redis | Cluster): Client {
  const isReady = () => driver.status === 'ready'
  return {
    get isReady() {
      return isReady()
    },
    send: ([name, ...args]) => {
      if (driver instanceof Redis) holdWrites(driver.stream)
      return driver.call(name, ...args)
    },
    sendAll: async commands => {
      const pipeline = driver.pipeline()
      for (const [name, ...args] of commands) pipeline.call(name, ...args)
      const results = (await pipeline.exec()) ?? []
      return results.map(([error, value]) => error ?? value)
    },
    onReady: listener => void driver.on('ready', listener),
    onLoss: listener => void driver.on('error', listener).on('close', listener),
    // One that is still dialling goes on by itself, and with Sentinels would end for ever if it were cut.
    redial: () => void (isReady() && driver.disconnect(true)),
    end: async () => (isReady() ? driver.quit() : driver.disconnect()),
    cut: () => driver.disconnect(),
  }
}

/** Joins what is sent within one turn of the event loop into one write: many callers ask at once, and a write costs more than a command. */
function holdWrites(stream: Writable | undefined): void {
  if (stream === undefined || stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

function ignore(): void {}
