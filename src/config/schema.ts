// What the operator may tell us: the shape of a proven configuration, which everything above is built from.

export interface Endpoint {
  readonly host: string // an IPv6 address stands without brackets
  readonly port: number
}

/** Limits of time towards the origin, in ms; 0 is off. */
export interface Timeouts {
  readonly connect: number // TCP connect
  readonly handshake: number // TLS handshake
  readonly response: number // request sent to response head
  readonly write: number // a stalled write
  readonly idle: number // no byte either way in a body, a stream or a WebSocket
  readonly total: number // the whole request over all attempts, until the response head
}

export interface OriginConfig {
  readonly url: string // scheme://host:port, without a slash at the end
  readonly protocol: 'http' | 'https'
  readonly host: string // an IPv6 address stands without brackets
  readonly port: number
  readonly tls: OriginTls
}

export interface OriginTls {
  readonly verify: boolean
  readonly serverName: string | null // null: the host of the URL
  readonly ca: string | null // PEM; null: the authorities that Node trusts
}

export interface PoolConfig {
  readonly name: string
  readonly origins: readonly OriginConfig[]
}

export interface RouteConfig {
  readonly path: string // a prefix in normal form
  readonly pool: PoolConfig | null
  readonly host: 'preserve' | 'origin' | { readonly name: string }
  readonly bodyLimit: number // bytes
  readonly timeouts: Timeouts
}

export interface ZoneConfig {
  readonly name: string
  readonly hosts: readonly string[] // lower-case: exact names, '*.' names, IP addresses without brackets
  readonly isDefault: boolean
  readonly paused: boolean
  readonly routes: readonly RouteConfig[]
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type StatusClass = '1xx' | '2xx' | '3xx' | '4xx' | '5xx'

export interface Config {
  readonly name: string // the pseudonym in Via and CDN-Loop
  readonly workers: number | 'auto' // 0: one process
  readonly listen: readonly Endpoint[]
  readonly admin: Endpoint
  readonly errors: { readonly documentation: string | null } // base of the `type` URIs, without a slash at the end
  readonly trustedProxies: readonly string[] // addresses and CIDR networks
  readonly limits: {
    readonly headerSection: number // bytes
    readonly url: number // bytes
    readonly requestsPerConnection: number
  }
  readonly client: {
    readonly headerTimeout: number // ms
    readonly keepAlive: number // ms
  }
  readonly log: {
    readonly level: LogLevel
    readonly access: boolean
    readonly sample: Readonly<Record<StatusClass, number>> // the share that is written, 0 to 1
  }
  readonly shutdown: { readonly grace: number } // ms
  readonly zones: readonly ZoneConfig[]
}
