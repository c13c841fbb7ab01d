// Connections to one Redis, the primary named by Sentinels, a Sentinel, or a cluster: no command waits for an
// unreachable server, and dialling is retried indefinitely.

import { createConnection, type Socket } from 'node:net'
import type { Writable } from 'node:stream'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { AbstractConnector, Cluster, Redis, type RedisOptions } from 'ioredis'
import { settleStringMethods } from '../../../base/text/string-methods.ts'
import type { Address, Host } from './address.ts'
import { reasonOf } from './failure.ts'

settleStringMethods()

export type Argument = string | number | Buffer
export type Command = readonly [name: string, ...args: Argument[]]

export interface Dialling {
  readonly address: Address
  /** The trusted certificate authorities, in PEM; null for those that Node trusts. */
  readonly ca: string | null
  readonly sentinel: Credentials
  /** Finds the primary; null without Sentinels. */
  readonly guide: Guide | null
}

export type Credentials = Pick<Address, 'username' | 'password'>

export interface Guide {
  readonly primary: Host | null
  locate(): Promise<Host>
}

/** A connection. Commands reject at once while it is not ready. */
export interface Client {
  readonly isReady: boolean
  /** Whether it is connected to another server than the known primary. */
  readonly isAstray: boolean
  send(command: Command): Promise<unknown>
  /** The same, with strings in the reply as bytes. */
  sendForBytes(command: Command): Promise<unknown>
  /** Sends commands together to the node of the first; failed ones return their error. */
  sendAll(commands: readonly Command[]): Promise<readonly unknown[]>
  onReady(listener: () => void): void
  onLoss(listener: (reason: unknown) => void): void
  redial(): void
  /** Closes the connection once sent commands have their reply, or at once if it is not ready. */
  end(): Promise<unknown>
  cut(): void
}

/** Options that a server and the nodes of a cluster share. */
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
/** How long the known distribution of keys among nodes is used, in ms. */
const slotsLife = 2_000
const minPause = 100
const maxPause = 2_000

export interface Subscription {
  /** Why no messages arrive, as a code of the server or the system; null while subscribed. */
  readonly fault: string | null
  redial(): void
  end(): void
}

/** Returns ms before an attempt (from 1): doubled up to two seconds, less up to half at random. */
export function pauseBefore(attempt: number): number {
  const ceiling = Math.min(maxPause, minPause * 2 ** (attempt - 1))
  return Math.round(ceiling * (0.5 + Math.random() / 2))
}

/** Dials; `timeout` is how long the driver waits for a reply, in ms. */
export function connect(dialling: Dialling, timeout: number): Client {
  if (dialling.address.kind === 'cluster') return wrap(dialCluster(dialling, timeout), () => false)
  const route = new Route(dialling)
  return wrap(dialServer(dialling, timeout, route), () => route.isAstray)
}

export function connectToSentinel({ address, ...dialling }: Omit<Dialling, 'guide'>, host: Host): Client {
  const sentinel: Address = { ...address, ...dialling.sentinel, hosts: [host], db: 0 }
  return connect({ ...dialling, address: sentinel, guide: null }, dialTimeout)
}

/** Calls back for each message, and after each resubscription, since some may be lost then. */
export function subscribe(dialling: Dialling, channel: string, onMessage: () => void): Subscription {
  const isCluster = dialling.address.kind === 'cluster'
  const driver = isCluster
    ? dialCluster(dialling, dialTimeout)
    : dialServer(dialling, dialTimeout, new Route(dialling))
  let fault: string | null = 'ECONNREFUSED'
  let attempts = 0
  let retry: NodeJS.Timeout | undefined
  const ask = async () => {
    clearTimeout(retry)
    try {
      await driver.subscribe(channel)
      fault = null
      attempts = 0
      onMessage()
    } catch (error) {
      fault = reasonOf(error).message
      if (driver.status === 'ready') retry = setTimeout(ask, pauseBefore(++attempts)).unref()
    }
  }
  const lose = (reason?: unknown) => {
    if (reason instanceof Error || fault === null) fault = reasonOf(reason ?? new Error('closed')).message
  }
  driver.on('ready', ask).on('message', onMessage).on('error', lose).on('close', lose)
  return {
    get fault() {
      return fault
    },
    redial: () => void (driver.status === 'ready' && driver.disconnect(true)),
    end: () => {
      clearTimeout(retry)
      driver.disconnect()
    },
  }
}

/** The host of the URL, or the primary according to the Sentinels at the time of dialling. */
class Route {
  readonly #dialling: Dialling
  #dialled: Host | null = null

  constructor(dialling: Dialling) {
    this.#dialling = dialling
  }

  get isAstray(): boolean {
    const { guide } = this.#dialling
    return guide !== null && (this.#dialled === null || !isSame(this.#dialled, guide.primary))
  }

  async next(): Promise<Host> {
    const { address, guide } = this.#dialling
    this.#dialled = guide === null ? address.hosts[0]! : await guide.locate()
    return this.#dialled
  }
}

export function isSame(a: Host, b: Host | null): boolean {
  return a.host === b?.host && a.port === b.port
}

/** Makes the driver's connector. A rejection would make the driver stop permanently. */
function connectorOf(route: Route, tls: object | undefined) {
  return class extends AbstractConnector {
    #end: (reason: Error) => void = ignore

    constructor(options: unknown) {
      super((options as RedisOptions).disconnectTimeout!)
    }

    override async connect(): Promise<Socket | TLSSocket> {
      this.connecting = true
      const end = Promise.withResolvers<never>()
      this.#end = end.reject
      const place = await Promise.race([route.next(), end.promise])
      const socket = tls ? connectTls({ ...place, ...tls }) : createConnection(place)
      this.stream = socket
      socket.once('error', error => {
        this.firstError = error
      })
      return socket
    }

    override disconnect(): void {
      this.#end(new Error('closed'))
      super.disconnect()
    }
  }
}

function dialServer(dialling: Dialling, timeout: number, route: Route): Redis {
  const { address, guide } = dialling
  const { host, port } = address.hosts[0]!
  const options = commonOptions(dialling, timeout)
  return new Redis({
    ...options,
    ...(guide === null ? { host, port } : { Connector: connectorOf(route, options.tls) }),
    db: address.db,
    // The facts read in each handshake say whether it is still loading.
    enableReadyCheck: false,
    retryStrategy: pauseBefore,
    enableOfflineQueue: false,
  })
}

function dialCluster(dialling: Dialling, timeout: number): Cluster {
  const driver = new Cluster([...dialling.address.hosts], {
    redisOptions: commonOptions(dialling, timeout),
    clusterRetryStrategy: pauseBefore,
    enableOfflineQueue: false,
    // A failed attempt is abandoned before the caller's timeout, so that a write is not made long after it
    // was reported as lost.
    maxRedirections: 4,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    slotsRefreshTimeout: dialTimeout,
  })
  // Not left to the driver, which would continue indefinitely if it is closed during the refresh.
  const timer = setInterval(() => driver.status === 'ready' && driver.refreshSlotsCache(), slotsLife).unref()
  driver.once('end', () => clearInterval(timer))
  return driver
}

function commonOptions({ address, ca }: Dialling, timeout: number): Pick<RedisOptions, Common> {
  const { username, password, tls } = address
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: ca === null ? {} : { ca } } : {}),
    connectTimeout: dialTimeout,
    // Also the time within which a server must complete the handshake.
    commandTimeout: timeout + dialTimeout,
    disconnectTimeout: 100,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    disableClientInfo: true,
    connectionName: 'gatehouse',
  }
}

function wrap(driver: Redis | Cluster, isAstray: () => boolean): Client {
  if (driver instanceof Redis) timeWhileDialling(driver)
  const isReady = () => driver.status === 'ready'
  return {
    get isReady() {
      return isReady()
    },
    get isAstray() {
      return isAstray()
    },
    send: ([name, ...args]) => {
      if (driver instanceof Redis) holdWrites(driver.stream)
      return driver.call(name, ...args)
    },
    sendForBytes: ([name, ...args]) => {
      if (driver instanceof Redis) holdWrites(driver.stream)
      return driver.callBuffer(name, ...args)
    },
    sendAll: async commands => {
      const pipeline = driver.pipeline()
      for (const [name, ...args] of commands) pipeline.call(name, ...args)
      const results = (await pipeline.exec()) ?? []
      return results.map(([error, value]) => error ?? value)
    },
    onReady: listener => void driver.on('ready', listener),
    onLoss: listener => void driver.on('error', listener).on('close', listener),
    // A driver that is still dialling continues by itself; disconnected, it would stop if it uses Sentinels.
    redial: () => void (isReady() && driver.disconnect(true)),
    end: async () => (isReady() ? driver.quit() : driver.disconnect()),
    cut: () => driver.disconnect(),
  }
}

/**
 * Lets the driver time its commands only until it is ready: its timer costs as much as the rest of a command.
 */
function timeWhileDialling(driver: Redis): void {
  const { commandTimeout } = driver.options
  driver.on('ready', () => {
    driver.options.commandTimeout = undefined
  })
  driver.on('close', () => {
    driver.options.commandTimeout = commandTimeout
  })
}

/**
 * Joins everything sent within one turn of the event loop into one write, which costs more than a command.
 */
function holdWrites(stream: Writable | undefined): void {
  if (stream === undefined || stream.writableCorked > 0) return
  stream.cork()
  setImmediate(() => stream.uncork())
}

function ignore(): void {}
