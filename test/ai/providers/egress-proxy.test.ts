import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { proxyTo } from '../../../src/ai/providers/egress-proxy.ts'
import type { ProxyConfig } from '../../../src/config/model/pool-config.ts'
import { exceptions } from '../../../src/config/settings/proxy-settings.ts'

const proxy: ProxyConfig = { protocol: 'http', host: 'proxy', port: 3128, authorization: null, ca: null }

function isDirect(host: string, listed: string, port = 443): boolean {
  const reading = exceptions(listed)
  assert.ok('value' in reading, `${listed}: ${JSON.stringify(reading)}`)
  return proxyTo({ protocol: 'https', host, port }, null, { proxy, noProxy: reading.value }) === null
}

test('exceptions are hosts with all below them, those below alone, addresses, networks, and all', () => {
  for (const [listed, direct, proxied] of [
    ['', [], ['api.example', '192.0.2.1']],
    ['*', ['api.example', '192.0.2.1', '2001:db8::1'], []],
    ['Example.com', ['example.com', 'api.example.com'], ['notexample.com', 'example.com.evil.example']],
    ['.example.com', ['api.example.com', 'a.b.example.com'], ['example.com']],
    ['*.example.com', ['api.example.com'], ['example.com']],
    ['10.0.0.0/8', ['10.1.2.3'], ['11.1.2.3', '10.example']],
    ['192.0.2.1, 2001:db8::/32', ['192.0.2.1', '2001:db8::7'], ['192.0.2.2', '2001:db9::1']],
    ['[2001:db8::1]', ['2001:db8::1'], ['2001:db8::2']],
    ['a.example  b.example,', ['a.example', 'x.b.example'], ['c.example']],
  ] as const) {
    for (const host of direct) assert.ok(isDirect(host, listed), `${host} by ${listed}`)
    for (const host of proxied) assert.ok(!isDirect(host, listed), `${host} by ${listed}`)
  }
  assert.ok(isDirect('api.example', 'api.example:8443', 8443))
  assert.ok(!isDirect('api.example', 'api.example:8443'))
  assert.ok(isDirect('192.0.2.1', '192.0.2.1:443'))
})

test('no host on loopback is reached by the proxy of all, and none without TLS', () => {
  for (const host of ['localhost', 'api.localhost', '127.0.0.1', '127.9.9.9', '::1'])
    assert.ok(isDirect(host, ''), host)
  const settings = { proxy, noProxy: [] }
  assert.equal(proxyTo({ protocol: 'http', host: 'api.example', port: 80 }, null, settings), null)
  assert.equal(proxyTo({ protocol: 'http', host: 'api.example', port: 80 }, proxy, settings), proxy)
  assert.equal(proxyTo({ protocol: 'https', host: 'api.example', port: 443 }, 'off', settings), null)
})

test('whatever is listed is read or refused, and an exception never covers a name that only ends alike', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), text => {
      const reading = exceptions(text)
      if ('flaw' in reading) return
      for (const { host } of reading.value) {
        assert.match(host, /^(\*|[\da-z_.:-]+|[\da-f.:]+\/\d+)$/i)
        if (/[a-z]$/.test(host) && !host.startsWith('.'))
          assert.ok(!isDirect(`x${host}`, text) || text.includes('*') || reading.value.length > 1)
      }
    }),
    { numRuns: 2_000 },
  )
})
