// The ways in which an exchange with an origin fails, a row each: what the client is told of it, and what it says of the origin.

import type { Phase } from '../metrics/edge-metrics.ts'
import type { ErrorName } from './catalogue.ts'

/** What the system, TLS or DNS says of a failure. */
export interface Cause {
  readonly code?: string
  readonly syscall?: string
}

export interface Failure {
  readonly way: Way
  readonly row: Row
  /** For the log: an error as it came, or the code of what the edge found itself. */
  readonly cause: Cause
}

interface Row {
  /** The error by where it happens; elsewhere that of `unforeseen`. */
  readonly errors: Partial<Record<Stretch, ErrorName>>
  /** Whether the member is to blame: not for this machine, a queue, where a name leads, and all the time that a client may have taken too. */
  readonly blamesMember: boolean
  /** Whether a timeout of the configuration ended it. */
  readonly isTimeout: boolean
  /** Whether connections end so that were idle for too long. */
  readonly isLoss: boolean
  /** Whether it may say no more than that this machine has no route for a family of addresses. */
  readonly isWithoutRoute: boolean
  /** The codes of node, c-ares and OpenSSL for it; null for what the edge finds itself. */
  readonly codes: RegExp | null
}

/** A phase, but that those of an open connection are one. */
type Stretch = 'resolve' | 'connect' | 'handshake' | 'exchange'

const usual: Omit<Row, 'errors'> = {
  blamesMember: true,
  isTimeout: false,
  isLoss: false,
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

/** What the edge finds itself; the names are codes in the log. */
const faults = {
  GH_QUEUE_FULL: row({ connect: 'cache_connection_limit' }, faultless),
  GH_QUEUE_TIMEOUT: row({ connect: 'origin_gateway_timeout' }, { ...faultless, ...timeout }),
  GH_PROHIBITED_ADDRESS: row({ connect: 'prohibited_origin_ip' }, faultless),
  GH_OWN_ADDRESS: row({ connect: 'dns_loop' }, faultless),
  GH_CONNECT_TIMEOUT: row({ resolve: 'origin_dns_error', connect: 'connection_timeout' }, timeout),
  GH_HANDSHAKE_TIMEOUT: row({}, timeout),
  GH_WRITE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, timeout),
  GH_RESPONSE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, timeout),
  GH_IDLE_TIMEOUT: row({ exchange: 'origin_response_timeout' }, { ...faultless, ...timeout }),
  GH_TOTAL_TIMEOUT: row(noTimeLeft, { ...faultless, ...timeout }),
  GH_CLOSED: row({ connect: 'origin_down' }, loss),
  GH_BAD_HEAD: row({}),
  GH_HEAD_TOO_LARGE: row({}),
  GH_BAD_FRAMING: row({ exchange: 'origin_bad_gateway' }),
  GH_BAD_UPGRADE: row({ exchange: 'origin_bad_gateway' }),
  GH_BAD_ANSWER: row({ exchange: 'origin_bad_gateway' }),
}

/** What comes from outside; the first whose codes match. */
const found = {
  no_descriptor: row({}, { ...faultless, codes: /^(EMFILE|ENFILE)$/ }),
  name_vanished: row(dnsError, { codes: /^(ENOTFOUND|ENODATA)$/ }),
  /** No server said whether there is such a name. */
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
  /** The system has waited in vain for its peer; that is no timeout of ours. */
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
   * The peer refuses a handshake, which may seem done by then: with TLS 1.3 the client's part ends before the server has seen its certificate, or that there is
   * none (RFC 8446 sections 2 and 4.4.2.4). OpenSSL names an alert by the version of TLS that knew it first, which is `SSL/TLS` for the oldest.
   */
  handshake_refused: row(
    {},
    {
      codes:
        /^ERR_SSL_[\w/]+_ALERT_(\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR|INSUFFICIENT_SECURITY)$/,
    },
  ),
}

/** What nobody foresaw is ours before the connection stands, and the origin's afterwards. */
const unforeseen = {
  resolve: 'internal_server_error',
  connect: 'internal_server_error',
  handshake: 'ssl_handshake_failed',
  exchange: 'origin_unknown_error',
} as const satisfies Row['errors']

const rows = { ...faults, ...found, unforeseen: row(unforeseen) }

export type OriginFault = keyof typeof faults
export type Way = keyof typeof rows

/** All ways, in the order in which codes are compared. */
export const ways = Object.keys(rows) as readonly Way[]

/** Makes a failure of what the edge finds itself. */
export function fault(way: OriginFault): Failure {
  return { way, row: rows[way], cause: { code: way } }
}

/** Finds the way of what came from outside, or was thrown here. */
export function failureOf(thrown: unknown): Failure {
  const cause = (thrown ?? {}) as Cause
  const code = typeof cause.code === 'string' ? cause.code : ''
  const way = ways.find(name => rows[name].codes?.test(code)) ?? 'unforeseen'
  return { way, row: rows[way], cause }
}

/** Names the error for a failure in a phase. */
export function originFailure(phase: Phase, { row }: Pick<Failure, 'row'>): ErrorName {
  const stretch = phase === 'resolve' || phase === 'connect' || phase === 'handshake' ? phase : 'exchange'
  return row.errors[stretch] ?? unforeseen[stretch]
}

/** Whether a failure in a phase counts against the member of the pool; what nobody foresaw before a connection stands does not. */
export function blamesMember(phase: Phase, failure: Failure): boolean {
  return failure.row.blamesMember && originFailure(phase, failure) !== 'internal_server_error'
}
