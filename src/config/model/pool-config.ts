// Load balancing and health checks of the origins of a pool, as set by the operator.

export type BalanceConfig =
  | { readonly by: 'round_robin' }
  | { readonly by: 'least_outstanding' }
  | { readonly by: 'hash'; readonly header: string | null } // of a header (lower-case), or of the client's address

/** Ejection of an origin that fails requests in a row: for `base` ms, doubled each time up to `longest`. */
export interface EjectionConfig {
  readonly failures: number
  readonly base: number
  readonly longest: number
}

/** A GET every `interval` ms (± 10 %), with a response due in `timeout` ms. */
export interface CheckConfig {
  readonly path: string
  readonly host: string | null // null: that of the url
  readonly interval: number
  readonly timeout: number
  readonly healthy: number // successful checks in a row until it is up
  readonly unhealthy: number // failed checks in a row until it is down
  readonly least: number // statuses
  readonly most: number
}

/** 1.1 alone, 2 if a TLS handshake negotiates it, or 2 without TLS by prior knowledge. */
export type HttpVersions = '1' | '2' | 'h2c'

/** A proxy through which connections leave a network, each by a CONNECT request (RFC 9110 section 9.3.6). */
export interface ProxyConfig {
  readonly protocol: 'http' | 'https'
  readonly host: string // IPv6 addresses without brackets
  readonly port: number
  readonly authorization: string | null // the value of Proxy-Authorization; secret
  readonly ca: string | null // PEM of the authorities for its certificate; null: those that Node trusts
}

/** A destination that is reached without a proxy. */
export interface ProxyException {
  readonly host: string // a host with all below it, .HOST for those below alone, an address or a network, * for all
  readonly port: number | null // null: any
}

/** How one origin is reached; changing it makes a new origin. */
export interface TransportConfig {
  readonly http: HttpVersions
  readonly streams: number // maximum of requests at a time on one connection of HTTP/2
  readonly connections: number // maximum; 0 for no limit
  readonly queue: { readonly size: number; readonly timeout: number } // requests that wait when all are in use; ms, 0 for no timeout
  readonly dns: { readonly refresh: number; readonly keep: number } // ms: interval between lookups (0: by TTL, at most 30 s), and how long old addresses outlive the name
  readonly proxy: ProxyConfig | null // by which it is reached; null: directly
  readonly addresses: 'any' | 'public' // public: private, loopback and link-local addresses are refused (1002)
  readonly networks?: readonly string[] // which are not, nevertheless; absent: none
}

export interface RetryConfig {
  readonly most: number // most retries of one request
  readonly budget: number // the share of requests that may be retried, 0 to 1
}

export const usualTransport: TransportConfig = {
  http: '1',
  streams: 100,
  connections: 0,
  queue: { size: 1000, timeout: 10_000 },
  dns: { refresh: 0, keep: 300_000 },
  proxy: null,
  addresses: 'any',
}

export const usualRetries: RetryConfig = { most: 2, budget: 0.2 }

export const usualEjection: EjectionConfig = { failures: 5, base: 10_000, longest: 300_000 }
