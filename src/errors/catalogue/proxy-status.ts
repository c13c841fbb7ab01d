// Proxy-Status (RFC 9209) of our own responses: the intermediary that made the response, and the reason. It
// never reveals more than the registered type of the error.

import { type ErrorCategory, type ErrorName, errorRows } from './catalogue.ts'
import type { Refusal } from './refusal.ts'

/** Writes the line for a refusal, by the name of this gateway; `more` are further parameters. */
export function proxyStatusLine(name: string, refusal: Refusal, more = ''): string {
  return `Proxy-Status: ${identifier(name)}; error=${proxyErrorOf(refusal)}${more}\r\n`
}

/** Writes the line for a response without failure and origin, such as a redirect to https. */
export function internalStatusLine(name: string): string {
  return `Proxy-Status: ${identifier(name)}; error=proxy_internal_response\r\n`
}

/** Writes the line for a response after retries, with the status that the origin sent. */
export function retriedStatusLine(name: string, status: number, more = ''): string {
  return `Proxy-Status: ${identifier(name)}; received-status=${status}${more}\r\n`
}

/** Returns the type of an error in the registry of RFC 9209 section 2.3. */
export function proxyErrorOf({ error, cause }: Refusal): string {
  const code = (cause as { readonly code?: unknown } | null)?.code
  const { status, category, stage } = errorRows[error]
  return (
    (stage === 'origin' && typeof code === 'string' ? ofCauses[code] : undefined) ??
    ofErrors[error] ??
    ofCategories[category] ??
    (status < 500 || stage === 'client' ? 'http_request_error' : 'proxy_internal_error')
  )
}

/** Causes of a failure at the origin that are more exact than the error. */
const ofCauses: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_terminated',
  EPIPE: 'connection_terminated',
  EAI_AGAIN: 'dns_timeout',
  ETIMEOUT: 'dns_timeout',
  GH_CLOSED: 'connection_terminated',
  GH_WRITE_TIMEOUT: 'connection_write_timeout',
  GH_IDLE_TIMEOUT: 'connection_read_timeout',
  GH_HEAD_TOO_LARGE: 'http_response_header_section_size',
  GH_BAD_HEAD: 'http_protocol_error',
  GH_BAD_FRAMING: 'http_protocol_error',
  GH_BAD_UPGRADE: 'http_upgrade_failed',
}

const ofErrors: Partial<Readonly<Record<ErrorName, string>>> = {
  origin_bad_gateway: 'http_protocol_error',
  origin_gateway_timeout: 'http_response_timeout',
  origin_unknown_error: 'connection_terminated',
  origin_down: 'destination_unavailable',
  connection_timeout: 'connection_timeout',
  origin_unreachable: 'destination_ip_unroutable',
  origin_response_timeout: 'http_response_timeout',
  ssl_handshake_failed: 'tls_protocol_error',
  invalid_ssl_certificate: 'tls_certificate_error',
  dns_loop: 'proxy_loop_detected',
  dns_resolution_failed: 'destination_not_found',
  direct_ip_access: 'destination_not_found',
  dns_resolution_error: 'proxy_configuration_error',
  prohibited_origin_ip: 'destination_ip_prohibited',
  origin_dns_error: 'dns_error',
  tunnel_error: 'destination_unavailable',
  cache_connection_limit: 'connection_limit_reached',
  too_many_redirects: 'http_protocol_error',
  zone_settings_failed: 'proxy_configuration_error',
}

const ofCategories: Partial<Readonly<Record<ErrorCategory, string>>> = {
  access_denied: 'http_request_denied',
  legal: 'http_request_denied',
  rate_limit: 'http_request_denied',
  tls: 'http_request_denied',
  rewrite: 'proxy_configuration_error',
}

/** Writes the name as a token, or else as a string (RFC 8941 section 3.3). */
function identifier(name: string): string {
  return /^[A-Za-z*][\w!#$%&'*+.^`|~:/-]*$/.test(name) ? name : `"${name}"`
}
