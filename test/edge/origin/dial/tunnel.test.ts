import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { usualTransport } from '../../../../src/config/model/pool-config.ts'
import { readTunnelResponse, tunnelRequest } from '../../../../src/edge/origin/dial/tunnel.ts'

const proxy = { protocol: 'http', host: 'proxy', port: 3128, authorization: null, ca: null } as const
const read = (text: string) => {
  const failure = readTunnelResponse(Buffer.from(text, 'latin1'))
  return failure?.cause.code ?? failure
}

test('a tunnel is asked for by host and port, with the credentials of the proxy', () => {
  const to = (host: string, authorization: string | null = null) =>
    tunnelRequest({ host, port: 443, transport: { ...usualTransport, proxy: { ...proxy, authorization } } })
  assert.equal(to('a.example'), 'CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n')
  assert.match(to('2001:db8::1'), /^CONNECT \[2001:db8::1\]:443 /)
  assert.match(to('a.example', 'Basic dTpw'), /\r\nProxy-Authorization: Basic dTpw\r\n\r\n$/)
})

test('a tunnel stands with a whole 2xx and nothing behind it', () => {
  for (const text of ['HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.0 204\r\nA: b\r\n\r\n', 'HTTP/1.1 200 \r\n\r\n'])
    assert.equal(read(text), null, text)
  for (const text of ['', 'HTTP/1.1 200 OK\r\n', 'HTTP/1.1 200 OK\r\n\r']) assert.equal(read(text), undefined)
  for (const [text, code] of [
    ['HTTP/1.1 200 OK\r\n\r\nx', 'GH_BAD_PROXY'],
    ['HTTP/2 200\r\n\r\n', 'GH_BAD_PROXY'],
    ['HTTP/1.1 2000\r\n\r\n', 'GH_BAD_PROXY'],
    ['x\r\nHTTP/1.1 200 OK\r\n\r\n', 'GH_BAD_PROXY'],
    ['HTTP/1.1 407 No\r\n\r\n', 'GH_PROXY_AUTHENTICATION'],
    ['HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n', 'GH_PROXY_REFUSED'],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'GH_PROXY_REFUSED'],
  ] as const)
    assert.equal(read(text), code, text)
})

test('whatever a proxy sends is judged, and what was judged bad stays so with more', () => {
  const piece = fc.oneof(
    fc.constantFrom('HTTP/1.1 200 OK', '\r\n', '\r\n\r\n', 'HTTP/1.1 407', 'A: b'),
    fc.string({ maxLength: 20 }),
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.string({ minLength: 1, maxLength: 5 }),
      (pieces, more) => {
        const text = pieces.join('')
        const [before, after] = [read(text), read(text + more)]
        if (typeof before === 'string') assert.equal(after, before)
        if (before === null) assert.equal(after, 'GH_BAD_PROXY')
      },
    ),
    { numRuns: 2_000 },
  )
})
