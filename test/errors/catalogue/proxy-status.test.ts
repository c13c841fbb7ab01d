import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { proxyErrorOf, proxyStatusLine } from '../../../src/errors/catalogue/proxy-status.ts'
import { fault, ways } from '../../../src/errors/catalogue/origin-failure.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'

/** The registry of RFC 9209 section 2.3. */
const registered = new Set([
  'dns_timeout',
  'dns_error',
  'destination_not_found',
  'destination_unavailable',
  'destination_ip_prohibited',
  'destination_ip_unroutable',
  'connection_refused',
  'connection_terminated',
  'connection_timeout',
  'connection_read_timeout',
  'connection_write_timeout',
  'connection_limit_reached',
  'tls_protocol_error',
  'tls_certificate_error',
  'tls_alert_received',
  'http_request_error',
  'http_request_denied',
  'http_response_incomplete',
  'http_response_header_section_size',
  'http_response_header_size',
  'http_response_body_size',
  'http_response_trailer_section_size',
  'http_response_trailer_size',
  'http_response_transfer_coding',
  'http_response_content_coding',
  'http_response_timeout',
  'http_upgrade_failed',
  'http_protocol_error',
  'proxy_internal_response',
  'proxy_internal_error',
  'proxy_configuration_error',
  'proxy_loop_detected',
])

test('every error has a registered type, whatever its cause', () => {
  const causes = [
    null,
    ...ways.filter(way => way.startsWith('GH_')).map(way => fault(way as 'GH_CLOSED').cause),
    { code: 'ECONNREFUSED' },
    { code: 'x' },
    { code: 7 },
  ]
  for (const error of Object.keys(errorRows) as ErrorName[])
    for (const cause of causes) ok(registered.has(proxyErrorOf(refuse(error, {}, cause))), error)
})

for (const [error, cause, type] of [
  ['origin_down', 'ECONNREFUSED', 'connection_refused'],
  ['origin_down', null, 'destination_unavailable'],
  ['origin_unknown_error', 'ECONNRESET', 'connection_terminated'],
  ['origin_unknown_error', 'GH_HEAD_TOO_LARGE', 'http_response_header_section_size'],
  ['origin_response_timeout', 'GH_IDLE_TIMEOUT', 'connection_read_timeout'],
  ['default_deny_policy', null, 'http_request_denied'],
  ['rate_limited', null, 'http_request_denied'],
  ['content_too_large', null, 'http_request_error'],
  ['request_timeout', 'ECONNREFUSED', 'http_request_error'],
  ['http_version_not_supported', null, 'http_request_error'],
  ['not_implemented', null, 'http_request_error'],
  ['internal_server_error', 'EMFILE', 'proxy_internal_error'],
  ['rewrite_too_long', null, 'proxy_configuration_error'],
] as const)
  test(`${error} for ${cause} is ${type}`, () =>
    equal(proxyErrorOf(refuse(error, {}, cause === null ? null : { code: cause })), type))

test('a name that is no token is a string, and nothing of the cause is told', () => {
  const refusal = refuse(
    'origin_down',
    {},
    Object.assign(new Error('10.0.0.1 s3cret'), { code: 'ECONNREFUSED' }),
  )
  equal(proxyStatusLine('gate-1', refusal), 'Proxy-Status: gate-1; error=connection_refused\r\n')
  equal(proxyStatusLine('1gate', refusal), 'Proxy-Status: "1gate"; error=connection_refused\r\n')
})
