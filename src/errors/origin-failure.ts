// What went wrong between us and an origin, as one table from phase and failure code to an error. Codes are those of node, c-ares and OpenSSL; GH_ marks
// what the edge finds itself.

import type { Phase } from '../metrics/edge-metrics.ts'
import type { ErrorName } from './catalogue.ts'

/** Why a connection or its exchange ended badly, where no system call says so. */
export type OriginFault =
  | 'GH_QUEUE_FULL'
  | 'GH_QUEUE_TIMEOUT'
  | 'GH_PROHIBITED_ADDRESS'
  | 'GH_OWN_ADDRESS'
  | 'GH_CONNECT_TIMEOUT'
  | 'GH_HANDSHAKE_TIMEOUT'
  | 'GH_RESPONSE_TIMEOUT'
  | 'GH_WRITE_TIMEOUT'
  | 'GH_IDLE_TIMEOUT'
  | 'GH_TOTAL_TIMEOUT'
  | 'GH_CLOSED'
  | 'GH_BAD_HEAD'
  | 'GH_HEAD_TOO_LARGE'
  | 'GH_BAD_FRAMING'
  | 'GH_BAD_UPGRADE'
  | 'GH_BAD_ANSWER'

/** A failure as the error table reads it: a system, TLS or DNS error, or a fault of ours. */
export interface Failure {
  readonly code?: string
  readonly syscall?: string
}

/** Names the error for a failure; a code that nobody foresaw is ours before the connection stands, and the origin's afterwards. */
export function originFailure(phase: Phase, cause: { readonly code?: string | undefined }): ErrorName {
  const code = cause.code ?? ''
  const { failures, otherwise } = table[phase]
  const [, error] = failures.find(([codes]) => codes.test(code)) ?? []
  return error ?? otherwise
}

/**
 * Whether a peer refuses the handshake by this, although it may seem done: with TLS 1.3 the client's part ends before the server has seen its certificate, or that there
 * is none (RFC 8446 sections 2 and 4.4.2.4).
 */
export function isRefusedHandshake({ code }: { readonly code?: string | undefined }): boolean {
  return code !== undefined && REFUSED_HANDSHAKE.test(code)
}

/** Alerts as OpenSSL names them: its names differ by the version of TLS that knew an alert first, which is `SSL/TLS` for the oldest. */
const REFUSED_HANDSHAKE =
  /^ERR_SSL_[\w/]+_ALERT_(\w*CERTIFICATE\w*|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR|INSUFFICIENT_SECURITY)$/

interface Row {
  readonly failures: readonly (readonly [codes: RegExp, error: ErrorName])[]
  readonly otherwise: ErrorName
}

const OUT_OF_TIME = [/^GH_TOTAL_TIMEOUT$/, 'origin_gateway_timeout'] as const

const NAME_NOT_FOUND = [
  /^(ENOTFOUND|ENODATA|EAI_\w+|ESERVFAIL|EREFUSED|ETIMEOUT|EBADNAME|EBADRESP|EFORMERR|ENOTIMP|ENONAME)$/,
  'origin_dns_error',
] as const

const NOT_TRUSTED = [
  /^(CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|ERR_TLS_CERT_)|SELF_SIGNED|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|UNSPECIFIED)$/,
  'invalid_ssl_certificate',
] as const

const NOT_ALLOWED: Row['failures'] = [
  [/^GH_OWN_ADDRESS$/, 'dns_loop'],
  [/^GH_PROHIBITED_ADDRESS$/, 'prohibited_origin_ip'],
]

const QUEUED: Row['failures'] = [
  [/^GH_QUEUE_FULL$/, 'cache_connection_limit'],
  [/^GH_QUEUE_TIMEOUT$/, 'origin_gateway_timeout'],
]

const connected: Row = {
  failures: [
    OUT_OF_TIME,
    [/^(GH_RESPONSE_TIMEOUT|GH_WRITE_TIMEOUT|GH_IDLE_TIMEOUT|ETIMEDOUT)$/, 'origin_response_timeout'],
    [/^(GH_BAD_FRAMING|GH_BAD_UPGRADE|GH_BAD_ANSWER)$/, 'origin_bad_gateway'],
  ],
  otherwise: 'origin_unknown_error',
}

const table: Readonly<Record<Phase, Row>> = {
  resolve: {
    failures: [OUT_OF_TIME, NAME_NOT_FOUND, [/^GH_CONNECT_TIMEOUT$/, 'origin_dns_error']],
    otherwise: 'internal_server_error',
  },
  connect: {
    failures: [
      OUT_OF_TIME,
      ...QUEUED,
      ...NOT_ALLOWED,
      NAME_NOT_FOUND,
      [/^(ECONNREFUSED|ECONNRESET|GH_CLOSED)$/, 'origin_down'],
      [/^(GH_CONNECT_TIMEOUT|ETIMEDOUT)$/, 'connection_timeout'],
      [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|EHOSTDOWN|ENETDOWN)$/, 'origin_unreachable'],
    ],
    otherwise: 'internal_server_error',
  },
  handshake: { failures: [OUT_OF_TIME, NOT_TRUSTED], otherwise: 'ssl_handshake_failed' },
  send: connected,
  wait: connected,
  receive: connected,
}
