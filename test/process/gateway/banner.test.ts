import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '../../../src/config/model/config.ts'
import { banner, welcome } from '../../../src/process/gateway/banner.ts'
import { urlOf } from '../../../src/process/ports/urls.ts'
import { edgeConfig } from '../../help/edge.ts'

const admin = { host: '127.0.0.1', port: 8081 }

/** Writes the banner of a gateway whose zones have these hosts. */
function greet(hosts: readonly string[], { isDefault = false, host = '0.0.0.0' } = {}): string {
  const config = { zones: [{ hosts, isDefault }] } as unknown as Config
  return banner(config, [{ host, port: 8080, tls: false }], admin)
}

test('the banner names both listeners and three lines to try', () => {
  const text = greet(['localhost'])
  assert.match(text, /listens on {2}http:\/\/localhost:8080\n/)
  assert.match(text, /admin on {4}http:\/\/127\.0\.0\.1:8081 /)
  const lines = text.split('\n').filter(line => line.includes('curl'))
  assert.deepEqual(
    lines.map(line => /Accept: ([\w/]+)/.exec(line)![1]),
    ['application/json', 'text/markdown', 'text/html'],
  )
})

test('the lines to try name a zone where the address alone would not reach one', () => {
  assert.match(greet(['*.shop.example', 'shop.example']), /curl -i -H 'Host: shop\.example' -H/)
  assert.doesNotMatch(greet(['shop.example'], { isDefault: true }), /Host:/)
  assert.doesNotMatch(greet(['::1'], { host: '::1' }), /Host:/)
})

test('a wildcard address is shown as localhost, IPv6 in brackets', () => {
  assert.equal(urlOf({ host: '::', port: 1 }), 'http://localhost:1')
  assert.equal(urlOf({ host: '::1', port: 1 }), 'http://[::1]:1')
  assert.equal(urlOf({ host: '192.0.2.1', port: 1 }), 'http://192.0.2.1:1')
  assert.equal(urlOf({ host: '0.0.0.0', port: 443, tls: true }), 'https://localhost:443')
})

test('the welcome of a first start shows what was made, and a call to try', () => {
  const setUp = 'http://127.0.0.1:8081/auth/set-up?token=value'
  const first = { account: 'a'.repeat(32), gateway: 'default', token: 'svct_value', setUp }
  const config = edgeConfig([], { ai: { hosts: ['127.0.0.1'], providers: [] } })
  const text = welcome(first, config, [{ host: '0.0.0.0', port: 8080, tls: false }])
  for (const part of [
    first.account,
    'default',
    'svct_value',
    setUp,
    `http://127.0.0.1:8080/client/v4/accounts/${first.account}/ai/v1/`,
  ])
    assert.ok(text.includes(part), part)
  assert.match(text, /OPENAI_API_KEY or ANTHROPIC_API_KEY/)
  const given = welcome({ ...first, token: null, setUp: null }, config, [
    { host: '0.0.0.0', port: 8080, tls: false },
  ])
  assert.match(given, /The token is the one you set/)
  assert.match(given, /-H "Authorization: Bearer \$TOKEN"/)
  assert.match(given, /gatehouse user invite$/m)
  assert.doesNotMatch(given, /svct_|null|set-up/)
  assert.doesNotMatch(welcome(first, edgeConfig([]), [{ host: '0.0.0.0', port: 8080, tls: false }]), /curl/)
})

test('the call to try is one to a provider that has a key', () => {
  const first = { account: 'a'.repeat(32), gateway: 'default', token: 'svct_value', setUp: null }
  const providers = [
    { name: 'openai', keys: [] },
    { name: 'anthropic', keys: ['sk-of-the-provider'] },
  ] as unknown as Config['ai']['providers']
  const config = edgeConfig([], { ai: { hosts: ['127.0.0.1'], providers } })
  const text = welcome(first, config, [{ host: '0.0.0.0', port: 8080, tls: false }])
  assert.match(text, /Next: call a model\n.*\n.*\n.*"model":"anthropic\/claude-/)
})
