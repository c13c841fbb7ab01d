// The ways in which an exchange with an origin fails, one row each: the error for the client, and what it
// implies about the origin.

import type { Phase } from './phase.ts'
import type { ErrorName } from './catalogue.ts'

/** A failure as reported by the system, TLS or DNS. */
export interface Cause {
  readonly code?: string
  readonly syscall?: string
}

export interface Failure {
  readonly way: Way
  readonly row: Row
  /** For the log: the original error, or a code for a failure that the edge detected itself. */
  readonly cause: Cause
}

interface Row {
  /** The error by phase; in other phases that of `unforeseen`. */
  readonly errors: Partial<Record<Stretch, ErrorName>>
  /** Not for failures of this machine, a queue, a name, or a total time that a client may use up. */
  readonly blamesMember: boolean
  /** Whether a configured timeout ended it. */
  readonly isTimeout: boolean
  /** Whether connections that were idle for too long end like this. */
  readonly isLoss: boolean
  /** Whether the origin has certainly not processed the request. */
  readonly isUnprocessed: boolean
  /** Whether it may mean only that this machine has no route for an address family. */
  readonly isWithoutRoute: boolean
  /** The codes of node, c-ares and OpenSSL for it; null for failures that the edge detects itself. */
  readonly codes: RegExp | null
}

/** A phase; those of an open connection count as one. */
type Stretch = 'resolve' | 'connect' | 'handshake' | 'exchange'

const usual: Omit<Row, 'errors'> = {
  blamesMember: true,
  isTimeout: false,
  isLoss: false,
  isUnprocessed: false,
  isWithoutRoute: false,
  codes: null,
}

function row(errors: Row['errors'], rest: Partial<Row> = {}): Row {
  return { ...usual, errors, ...rest }
}

const faultless = { blamesMember: false }
const timeout = { isTimeout: true }
const loss = { isLoss: true }

const dnsError = { resolve: 'origin_dns_error', connect: 'origin_dns_error' } as const
const noTimeLeft = {
  resolve: 'origin_gateway_timeout',
  connect: 'origin_gateway_timeout',
  handshake: 'origin_gateway_timeout',
  exchange: 'origin_gateway_timeout',
} as const

/** Failures that the edge detects itself; the names are codes in the log. */
const faults = {
  GH_QUEUE_FULL: row({ connect: 'cache_connection_limit' }, faultless),
  GH_QUEUE_TIMEOUT: row({ connect: 'origin_gateway_timeout' }, { ...faultless, ...timeout }),
  GH_PROHIBITED_ADDRESS: row({ connect: 'prohibited_origin_ip' }, faultless),
  GH_OWN_ADDRESS: row({ connect: 'dns_loop' }, faultless),
  GH_CONNECT_TIMEOUT: row({ resolve: 'origin_dns_error', connect: 'connection_timeout' }, timeout),
  GH_HANDSHAKE_TIMEOUT: row({}, timeout),
  GH_WRITE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, timeout),
  /** No content of an AI call within the time that its caller, its model or its gateway allows. */
  GH_CONTENT_TIMEOUT: row(
    {
      resolve: 'origin_response_timeout',
      connect: 'origin_response_timeout',
      handshake: 'origin_response_timeout',
      exchange: 'origin_response_timeout',
    },
    { ...faultless, ...timeout },
  ),
  /** A stream of a provider that began with an error, or ended without content. */
  GH_STREAM_ERROR: row({ exchange: 'origin_bad_gateway' }, faultless),
  GH_RESPONSE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, timeout),
  GH_IDLE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, { ...faultless, ...timeout }),
  GH_TOTAL_TIMEOUT: row(noTimeLeft, { ...faultless, ...timeout }),
  /** The deadline of a gRPC call, set by its client. */
  GH_CALL_TIMEOUT: row(noTimeLeft, { ...faultless, ...timeout }),
  /** The proxy towards the origin requires other credentials, forbids the destination, or is not a proxy. */
  GH_PROXY_AUTHENTICATION: row({ connect: 'origin_unreachable' }),
  GH_PROXY_REFUSED: row({ connect: 'origin_unreachable' }),
  GH_BAD_PROXY: row({ connect: 'origin_unreachable' }),
  /** The key for a provider could not be made from the identity of the gateway at its cloud. */
  GH_NO_KEY: row({ connect: 'service_unavailable' }, faultless),
  GH_CLOSED: row({ connect: 'origin_down' }, loss),
  /**
   * An HTTP/2 stream that the origin refused, or had not seen when it announced GOAWAY: the request was not
   * processed (RFC 9113 section 8.7).
   */
  GH_REFUSED_STREAM: row({}, { ...loss, isUnprocessed: true }),
  /**
   * A request that the origin accepts only over HTTP/1.1, as it must if it authenticates connections (section
   * 7): not processed either.
   */
  GH_HTTP1_REQUIRED: row({}, { ...faultless, ...loss, isUnprocessed: true }),
  /** An HTTP/2 stream that the origin reset. */
  GH_RESET_STREAM: row({}),
  GH_FLOOD: row({}),
  GH_BAD_HEAD: row({}),
  GH_HEAD_TOO_LARGE: row({}),
  GH_BAD_FRAMING: row({ exchange: 'origin_bad_gateway' }),
  GH_BAD_UPGRADE: row({ exchange: 'origin_bad_gateway' }),
  GH_BAD_ANSWER: row({ exchange: 'origin_bad_gateway' }),
}

/** Failures reported from outside; the first row with a matching code applies. */
const byCode = {
  no_descriptor: row({}, { ...faultless, codes: /^(EMFILE|ENFILE)$/ }),
  name_vanished: row(dnsError, { codes: /^(ENOTFOUND|ENODATA)$/ }),
  /** No server said whether the name exists. */
  name_unanswered: row(dnsError, { codes: /^EAI_AGAIN$/ }),
  name_failed: row(dnsError, {
    codes: /^(EAI_\w+|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EBADRESP|EFORMERR|ENOTIMP|ENONAME)$/,
  }),
  refused: row({ connect: 'origin_down' }, { codes: /^ECONNREFUSED$/ }),
  reset: row({ connect: 'origin_down' }, { ...loss, codes: /^ECONNRESET$/ }),
  broken_pipe: row({}, { ...loss, codes: /^EPIPE$/ }),
  unreachable: row(
    { connect: 'origin_unreachable' },
    { isWithoutRoute: true, codes: /^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/ },
  ),
  network_down: row({ connect: 'origin_unreachable' }, { codes: /^(EHOSTDOWN|ENETDOWN)$/ }),
  no_such_family: row({}, { isWithoutRoute: true, codes: /^EAFNOSUPPORT$/ }),
  /** The system gave up waiting for the peer; that is not one of our timeouts. */
  unacknowledged: row(
    { connect: 'connection_timeout', exchange: 'origin_response_timeout' },
    { codes: /^ETIMEDOUT$/ },
  ),
  not_trusted: row(
    { handshake: 'invalid_ssl_certificate' },
    {
      codes:
        /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|ERR_TLS_CERT_)|SELF_SIGNED|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/,
    },
  ),
  /**
   * The peer refuses a handshake that may already seem complete: with TLS 1.3 the client's part ends before
   * the server has seen its certificate, or that it has none (RFC 8446 sections 2 and 4.4.2.4). OpenSSL names
   * an alert by the TLS version that introduced it, `SSL/TLS` for the oldest.
   */
  handshake_refused: row(
    {},
    {
      codes:
        /^ERR_SSL_[\w/]+_ALERT_(\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR|INSUFFICIENT_SECURITY)$/,
    },
  ),
}

/** An unforeseen failure is ours before the connection is open, and the origin's afterwards. */
const unforeseen = {
  resolve: 'internal_server_error',
  connect: 'internal_server_error',
  handshake: 'ssl_handshake_failed',
  exchange: 'origin_unknown_error',
} as const satisfies Row['errors']

const rows = { ...faults, ...byCode, unforeseen: row(unforeseen) }

export type OriginFault = keyof typeof faults
export type Way = keyof typeof rows

/** All rows, in the order in which codes are compared. */
export const ways = Object.keys(rows) as readonly Way[]

/** Makes a failure that the edge detected itself. */
export function fault(way: OriginFault): Failure {
  return { way, row: rows[way], cause: { code: way } }
}

/** Finds the row of an error from outside, or one that was thrown here. */
export function failureOf(thrown: unknown): Failure {
  const cause = (thrown ?? {}) as Cause
  const code = typeof cause.code === 'string' ? cause.code : ''
  const way = ways.find(name => rows[name].codes?.test(code)) ?? 'unforeseen'
  return { way, row: rows[way], cause }
}

/** Returns the error for a failure in a phase. */
export function originFailure(phase: Phase, { row }: Pick<Failure, 'row'>): ErrorName {
  const stretch = phase === 'resolve' || phase === 'connect' || phase === 'handshake' ? phase : 'exchange'
  return row.errors[stretch] ?? unforeseen[stretch]
}

/** Unforeseen failures count only once a connection is open. */
export function blamesMember(phase: Phase, failure: Failure): boolean {
  return failure.row.blamesMember && originFailure(phase, failure) !== 'internal_server_error'
}
