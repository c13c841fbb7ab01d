// Addresses from options and from PORT, in place of those in the file.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from '../../../src/config/load/parse.ts'
import type { GivenAddresses } from '../../../src/config/resolve/address-overrides.ts'

const zones = '\nzones: []\n'

function read(yaml: string, given: GivenAddresses, env: Record<string, string> = {}) {
  const none = () => {
    throw new Error('there are no files')
  }
  return parse(yaml + zones, { env, readFile: none, findFile: none }, given)
}

/** Returns where it listens. */
function addresses(yaml: string, given: GivenAddresses, env?: Record<string, string>): readonly string[] {
  const parsed = read(yaml, given, env)
  assert.ok('config' in parsed, JSON.stringify(parsed))
  const { listen, admin } = parsed.config
  return [...listen, admin].map(({ host, port }) => `${host}:${port}`)
}

function mistakes(yaml: string, given: GivenAddresses, env?: Record<string, string>): readonly string[] {
  const parsed = read(yaml, given, env)
  assert.ok('mistakes' in parsed)
  return parsed.mistakes.map(({ path, message }) => `${path}: ${message}`)
}

const two = "listen: ['127.0.0.1:1', '127.0.0.1:2']"

describe('PORT', () => {
  test('is the port of the listener, on the address that it has by the file, else on all', () => {
    assert.deepEqual(addresses('name: a', { port: '3000' }), ['0.0.0.0:3000', '127.0.0.1:8081'])
    assert.deepEqual(addresses("listen: ['[::1]:8080']", { port: '3000' }), ['::1:3000', '127.0.0.1:8081'])
    assert.deepEqual(addresses('name: a', { port: '0' }), ['0.0.0.0:0', '127.0.0.1:8081'])
    assert.deepEqual(addresses('name: a', { port: '' }), ['0.0.0.0:8080', '127.0.0.1:8081'])
  })

  test('is that of the one listener without tls, whatever else there is', () => {
    const parsed = read(
      'trusted_proxies: [10.0.0.1]\nlisten:\n  - { address: 127.0.0.1:80, proxy_protocol: true, h2c: true }\n  - { address: 127.0.0.1:443, tls: true }\ntls: { auto: { terms_agreed: true } }',
      { port: '3000' },
    )
    assert.ok('config' in parsed, JSON.stringify(parsed))
    assert.deepEqual(parsed.config.listen, [
      { host: '127.0.0.1', port: 3000, tls: false, proxyProtocol: true, h2c: true },
      { host: '127.0.0.1', port: 443, tls: true },
    ])
  })

  test('must be a port', () => {
    for (const port of ['abc', '65536', '-1', '80 ', '0.0.0.0:80'])
      assert.deepEqual(mistakes('name: a', { port }), [
        `PORT: PORT must be a whole number from 0 to 65535; got ${JSON.stringify(port)}`,
      ])
  })

  test('is refused where it is not clear what it means, and means what the file says where that refers to it', () => {
    const remedy = `write \${PORT} in the file where it is meant, or unset it`
    assert.deepEqual(mistakes(two, { port: '3000' }), [
      `PORT: PORT is for the one listener without tls, but listen has 2: ${remedy}`,
    ])
    const secure = 'tls: { auto: { terms_agreed: true } }\nlisten: [{ address: "0.0.0.0:443", tls: true }]'
    assert.deepEqual(mistakes(secure, { port: '3000' }), [
      `PORT: PORT is for the one listener without tls, but listen has none: ${remedy}`,
    ])
    const own = `listen: ['127.0.0.1:1', '127.0.0.1:\${PORT}']`
    const env = { PORT: '3000' }
    assert.deepEqual(addresses(own, { port: '3000' }, env), [
      '127.0.0.1:1',
      '127.0.0.1:3000',
      '127.0.0.1:8081',
    ])
    const withTls = secure.replace('443', `\${PORT}`)
    assert.deepEqual(addresses(withTls, { port: '3000' }, env), ['0.0.0.0:3000', '127.0.0.1:8081'])
  })

  test('must not be that of another listener', () => {
    assert.deepEqual(mistakes('name: a', { port: '8081' }), [
      'admin: admin overlaps PORT; each listener needs its own address',
    ])
    assert.deepEqual(mistakes('admin: 0.0.0.0:3000', { port: '3000' }), [
      'admin: admin duplicates PORT; each listener needs its own address',
    ])
  })
})

describe('--listen and --admin', () => {
  test('come before PORT, the file and its defaults', () => {
    const given = { listen: '[::1]:4000', admin: '127.0.0.2:4001', port: 'abc' }
    for (const yaml of ['name: a', "listen: ['127.0.0.1:1']\nadmin: 127.0.0.1:2"])
      assert.deepEqual(addresses(yaml, given), ['::1:4000', '127.0.0.2:4001'])
    const env = { GATEHOUSE_ADMIN: '127.0.0.3:1' }
    assert.deepEqual(addresses('name: a', given, env), ['::1:4000', '127.0.0.2:4001'])
    assert.deepEqual(addresses('name: a', { listen: '127.0.0.1:1' }, env), ['127.0.0.1:1', '127.0.0.3:1'])
  })

  test('must be addresses, and --listen the one of a listener without tls', () => {
    const rule = 'must be HOST:PORT, such as 0.0.0.0:8080 or [::]:8080'
    assert.deepEqual(mistakes('name: a', { listen: '8080', admin: '' }), [
      `--admin: --admin ${rule}; got ""`,
      `--listen: --listen ${rule}; got "8080"`,
    ])
    assert.deepEqual(mistakes(two, { listen: '127.0.0.1:3' }), [
      '--listen: --listen is for the one listener without tls, but listen has 2: change the addresses in the file',
    ])
    assert.deepEqual(mistakes('name: a', { listen: '127.0.0.1:1', admin: '127.0.0.1:1' }), [
      '--admin: --admin duplicates --listen; each listener needs its own address',
    ])
  })

  test('a mistake in the file is not reported twice', () => {
    assert.deepEqual(mistakes('listen: [8080]', { port: '1' }).length, 1)
  })
})
