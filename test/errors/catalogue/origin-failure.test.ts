import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { lookup } from 'node:dns'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls, type ConnectionOptions, createServer as createTlsServer } from 'node:tls'
import fc from 'fast-check'
import type { Phase } from '../../../src/errors/catalogue/phase.ts'
import type { ErrorName } from '../../../src/errors/catalogue/catalogue.ts'
import {
  blamesMember,
  type Failure,
  failureOf as classify,
  fault,
  originFailure,
  type OriginFault,
  type Way,
  ways,
} from '../../../src/errors/catalogue/origin-failure.ts'
import { deadOrigin } from '../../help/origin.ts'

const expected: Readonly<Record<Phase, Readonly<Record<string, ErrorName>>>> = {
  resolve: {
    ENOTFOUND: 'origin_dns_error',
    ENODATA: 'origin_dns_error',
    EAI_AGAIN: 'origin_dns_error',
    ESERVFAIL: 'origin_dns_error',
    ETIMEOUT: 'origin_dns_error',
    GH_CONNECT_TIMEOUT: 'origin_dns_error',
    GH_TOTAL_TIMEOUT: 'origin_gateway_timeout',
    EMFILE: 'internal_server_error',
  },
  connect: {
    GH_PROXY_AUTHENTICATION: 'origin_unreachable',
    GH_PROXY_REFUSED: 'origin_unreachable',
    GH_BAD_PROXY: 'origin_unreachable',
    GH_QUEUE_FULL: 'cache_connection_limit',
    GH_QUEUE_TIMEOUT: 'origin_gateway_timeout',
    GH_PROHIBITED_ADDRESS: 'prohibited_origin_ip',
    GH_OWN_ADDRESS: 'dns_loop',
    ECONNREFUSED: 'origin_down',
    ECONNRESET: 'origin_down',
    GH_CLOSED: 'origin_down',
    GH_NO_KEY: 'service_unavailable',
    GH_CONNECT_TIMEOUT: 'connection_timeout',
    ETIMEDOUT: 'connection_timeout',
    EHOSTUNREACH: 'origin_unreachable',
    ENETUNREACH: 'origin_unreachable',
    EADDRNOTAVAIL: 'origin_unreachable',
    EHOSTDOWN: 'origin_unreachable',
    ENETDOWN: 'origin_unreachable',
    EAFNOSUPPORT: 'internal_server_error',
    ENOTFOUND: 'origin_dns_error',
    GH_TOTAL_TIMEOUT: 'origin_gateway_timeout',
    EMFILE: 'internal_server_error',
    ENFILE: 'internal_server_error',
  },
  handshake: {
    CERT_HAS_EXPIRED: 'invalid_ssl_certificate',
    CERT_NOT_YET_VALID: 'invalid_ssl_certificate',
    CERT_SIGNATURE_FAILURE: 'invalid_ssl_certificate',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'invalid_ssl_certificate',
    SELF_SIGNED_CERT_IN_CHAIN: 'invalid_ssl_certificate',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'invalid_ssl_certificate',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'invalid_ssl_certificate',
    ERR_TLS_CERT_ALTNAME_INVALID: 'invalid_ssl_certificate',
    HOSTNAME_MISMATCH: 'invalid_ssl_certificate',
    EPROTO: 'ssl_handshake_failed',
    ECONNRESET: 'ssl_handshake_failed',
    ERR_SSL_WRONG_VERSION_NUMBER: 'ssl_handshake_failed',
    ERR_SSL_TLSV1_ALERT_CERTIFICATE_REQUIRED: 'ssl_handshake_failed',
    GH_CLOSED: 'ssl_handshake_failed',
    GH_HANDSHAKE_TIMEOUT: 'ssl_handshake_failed',
    GH_TOTAL_TIMEOUT: 'origin_gateway_timeout',
  },
  send: {
    GH_WRITE_TIMEOUT: 'origin_response_timeout',
    EPIPE: 'origin_unknown_error',
    ECONNRESET: 'origin_unknown_error',
    GH_TOTAL_TIMEOUT: 'origin_gateway_timeout',
  },
  wait: {
    GH_CONTENT_TIMEOUT: 'origin_response_timeout',
    GH_RESPONSE_TIMEOUT: 'origin_response_timeout',
    ETIMEDOUT: 'origin_response_timeout',
    GH_CLOSED: 'origin_unknown_error',
    GH_REFUSED_STREAM: 'origin_unknown_error',
    GH_HTTP1_REQUIRED: 'origin_unknown_error',
    GH_FLOOD: 'origin_unknown_error',
    GH_BAD_HEAD: 'origin_unknown_error',
    GH_HEAD_TOO_LARGE: 'origin_unknown_error',
    ECONNRESET: 'origin_unknown_error',
    GH_BAD_FRAMING: 'origin_bad_gateway',
    GH_BAD_UPGRADE: 'origin_bad_gateway',
    GH_TOTAL_TIMEOUT: 'origin_gateway_timeout',
    GH_CALL_TIMEOUT: 'origin_gateway_timeout',
  },
  receive: {
    GH_CALL_TIMEOUT: 'origin_gateway_timeout',
    GH_IDLE_TIMEOUT: 'origin_response_timeout',
    GH_BAD_ANSWER: 'origin_bad_gateway',
    GH_STREAM_ERROR: 'origin_bad_gateway',
    GH_BAD_FRAMING: 'origin_bad_gateway',
    GH_CLOSED: 'origin_unknown_error',
    GH_RESET_STREAM: 'origin_unknown_error',
    ECONNRESET: 'origin_unknown_error',
  },
}

for (const phase of Object.keys(expected) as Phase[]) {
  test(`each failure of the phase ${phase} has its error`, () => {
    for (const [code, error] of Object.entries(expected[phase]))
      assert.equal(originFailure(phase, failureWith(code)), error, code)
  })
}

test("an unforeseen failure is ours before the connection is open, and the origin's afterwards", () => {
  const phases = Object.keys(expected) as Phase[]
  assert.deepEqual(
    phases.map(phase => originFailure(phase, classify(undefined))),
    [
      'internal_server_error',
      'internal_server_error',
      'ssl_handshake_failed',
      'origin_unknown_error',
      'origin_unknown_error',
      'origin_unknown_error',
    ],
  )
  fc.assert(
    fc.property(fc.constantFrom(...phases), fc.string(), (phase, code) => {
      assert.equal(originFailure(phase, classify({ code: `?${code}` })), originFailure(phase, classify({})))
    }),
  )
})

test('this test covers every row, with each code that a system has for it', () => {
  const told = Object.values(expected).flatMap(row => Object.keys(row))
  const missing = new Set<Way>(ways).difference(new Set(told.map(code => failureWith(code).way)))
  assert.deepEqual([...missing], [])
})

test('codes from outside are classified, and never taken for a fault of ours', () => {
  for (const way of ways) if (isFault(way)) assert.equal(classify({ code: way }).way, 'unforeseen')
  for (const thrown of [null, undefined, 'ECONNRESET', 7, {}, { code: '' }, { code: 104 }, new Error('bug')])
    assert.equal(classify(thrown).way, 'unforeseen')
})

test('a failure keeps the original error for the log, or the code of what the edge detected', () => {
  const error = Object.assign(new Error('reset'), { code: 'ECONNRESET', syscall: 'read' })
  assert.equal(classify(error).cause, error)
  assert.deepEqual(fault('GH_CLOSED').cause, { code: 'GH_CLOSED' })
})

test('the member is to blame, but not for queues, addresses, the time of all and what is wrong here', () => {
  const phases = Object.keys(expected) as Phase[]
  const blameless = (phase: Phase) =>
    Object.keys(expected[phase]).filter(code => !blamesMember(phase, failureWith(code)))
  assert.deepEqual(Object.fromEntries(phases.map(phase => [phase, blameless(phase)])), {
    resolve: ['GH_TOTAL_TIMEOUT', 'EMFILE'],
    connect: [
      'GH_QUEUE_FULL',
      'GH_QUEUE_TIMEOUT',
      'GH_PROHIBITED_ADDRESS',
      'GH_OWN_ADDRESS',
      'GH_NO_KEY',
      'EAFNOSUPPORT',
      'GH_TOTAL_TIMEOUT',
      'EMFILE',
      'ENFILE',
    ],
    handshake: ['GH_TOTAL_TIMEOUT'],
    send: ['GH_TOTAL_TIMEOUT'],
    wait: ['GH_CONTENT_TIMEOUT', 'GH_HTTP1_REQUIRED', 'GH_TOTAL_TIMEOUT', 'GH_CALL_TIMEOUT'],
    receive: ['GH_CALL_TIMEOUT', 'GH_IDLE_TIMEOUT', 'GH_STREAM_ERROR'],
  })
})

test('what says more of a failure than its error', () => {
  const such = (is: (failure: Failure) => boolean) => {
    const codes = new Set(Object.values(expected).flatMap(row => Object.keys(row)))
    return [...codes].filter(code => is(failureWith(code))).sort()
  }
  assert.deepEqual(
    such(({ row }) => row.isLoss),
    ['ECONNRESET', 'EPIPE', 'GH_CLOSED', 'GH_HTTP1_REQUIRED', 'GH_REFUSED_STREAM'],
  )
  assert.deepEqual(
    such(({ row }) => row.isUnprocessed),
    ['GH_HTTP1_REQUIRED', 'GH_REFUSED_STREAM'],
  )
  assert.deepEqual(
    such(({ row }) => row.isTimeout),
    [
      'GH_CALL_TIMEOUT',
      'GH_CONNECT_TIMEOUT',
      'GH_CONTENT_TIMEOUT',
      'GH_HANDSHAKE_TIMEOUT',
      'GH_IDLE_TIMEOUT',
      'GH_QUEUE_TIMEOUT',
      'GH_RESPONSE_TIMEOUT',
      'GH_TOTAL_TIMEOUT',
      'GH_WRITE_TIMEOUT',
    ],
  )
  assert.deepEqual(
    such(({ row }) => row.isWithoutRoute),
    ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EHOSTUNREACH', 'ENETUNREACH'],
  )
  assert.deepEqual(
    such(({ way }) => way === 'no_descriptor'),
    ['EMFILE', 'ENFILE'],
  )
  assert.deepEqual(
    such(({ way }) => way === 'name_vanished'),
    ['ENODATA', 'ENOTFOUND'],
  )
})

test('a port where nobody listens is an origin that is down', async t => {
  const { port } = deadOrigin()
  assert.equal(
    originFailure('connect', classify(await failureOf(t, connect(port, '127.0.0.1')))),
    'origin_down',
  )
})

test('a name that cannot exist is an origin that does not resolve', async () => {
  const failure = await new Promise<NodeJS.ErrnoException>(resolve =>
    lookup('origin.invalid', error => resolve(error!)),
  )
  assert.equal(originFailure('resolve', classify(failure)), 'origin_dns_error')
})

test('a server that speaks no TLS fails the handshake', async t => {
  const port = await portOf(
    t,
    createServer(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
  )
  assert.equal(await handshakeWith(t, port), 'ssl_handshake_failed')
})

test('a server that resets in the handshake fails it', async t => {
  const port = await portOf(
    t,
    createServer(socket => socket.once('data', () => socket.resetAndDestroy())),
  )
  assert.equal(await handshakeWith(t, port), 'ssl_handshake_failed')
})

test('a server without a common version of TLS fails the handshake', async t => {
  const port = await tlsPort(t)
  assert.equal(
    await handshakeWith(t, port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }),
    'ssl_handshake_failed',
  )
})

test('a self-signed certificate is not trusted', async t => {
  assert.equal(await handshakeWith(t, await tlsPort(t)), 'invalid_ssl_certificate')
})

test('a certificate for another name is not trusted, even from a trusted issuer', async t => {
  const { cert } = certificate(t)
  const port = await tlsPort(t)
  assert.equal(
    await handshakeWith(t, port, { ca: cert, servername: 'other.example' }),
    'invalid_ssl_certificate',
  )
})

function isFault(way: string): way is OriginFault {
  return way.startsWith('GH_')
}

/** Makes the failure of which the log would have this code. */
function failureWith(code: string): Failure {
  return isFault(code) ? fault(code) : classify({ code })
}

async function handshakeWith(
  t: TestContext,
  port: number,
  options: ConnectionOptions = {},
): Promise<ErrorName> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'origin.example', ...options })
  return originFailure('handshake', classify(await failureOf(t, socket)))
}

function failureOf(t: TestContext, socket: Socket): Promise<NodeJS.ErrnoException> {
  t.after(() => socket.destroy())
  return new Promise(resolve => socket.once('error', resolve))
}

async function portOf(t: TestContext, server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  t.after(() => void server.close())
  return port
}

function tlsPort(t: TestContext): Promise<number> {
  const server = createTlsServer({ ...certificate(t), minVersion: 'TLSv1.2' })
  server.on('tlsClientError', () => {})
  return portOf(t, server)
}

const made = new Map<TestContext, { readonly key: string; readonly cert: string }>()

/** Makes a self-signed certificate for origin.example, one for each test. */
function certificate(t: TestContext): { readonly key: string; readonly cert: string } {
  const known = made.get(t)
  if (known) return known
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=origin.example', '-addext', 'subjectAltName=DNS:origin.example']
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key]
  execFileSync(
    process.env.OPENSSL ?? 'openssl',
    ['req', '-x509', ...newKey, '-out', cert, '-days', '1', ...subject],
    {
      stdio: 'ignore',
    },
  )
  const pair = { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') }
  rmSync(folder, { recursive: true })
  made.set(t, pair)
  return pair
}

test('an alert about a certificate refuses the handshake, by whatever name it has', () => {
  for (const alert of [
    'SSL/TLS_ALERT_BAD_CERTIFICATE',
    'SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
    'SSL/TLS_ALERT_CERTIFICATE_REVOKED',
    'SSL/TLS_ALERT_CERTIFICATE_UNKNOWN',
    'SSL/TLS_ALERT_UNSUPPORTED_CERTIFICATE',
    'SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    'SSLV3_ALERT_BAD_CERTIFICATE',
    'TLSV1_ALERT_UNKNOWN_CA',
    'TLSV13_ALERT_CERTIFICATE_REQUIRED',
  ])
    assert.equal(classify({ code: `ERR_SSL_${alert}` }).way, 'handshake_refused', alert)
  for (const code of ['ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ECONNRESET'])
    assert.notEqual(classify({ code }).way, 'handshake_refused', code)
})
