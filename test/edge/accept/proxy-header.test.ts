import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalAddress } from '../../../src/base/address/address.ts'
import { readProxyHeader } from '../../../src/edge/accept/proxy-header.ts'
import { proxyHeader } from '../../help/proxy-header.ts'

const read = (text: string | Buffer) => readProxyHeader(Buffer.from(text as string, 'latin1'))

/** What a header that ends with the bytes says. */
function clientIn(bytes: string | Buffer) {
  const header = read(bytes)
  if (header === null || typeof header === 'string') return header === null ? 'more' : { fault: header }
  assert.equal(header.length, bytes.length)
  return header.client
}

const fault = (reason: string) => ({ fault: reason })

test('version 1 names a client of either family, or none', () => {
  assert.equal(clientIn('PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n'), '203.0.113.7')
  assert.equal(clientIn('PROXY TCP6 2001:DB8::0:7 2001:db8::1 0 65535\r\n'), '2001:db8::7')
  assert.equal(clientIn('PROXY TCP6 ::ffff:203.0.113.7 ::1 1 2\r\n'), '203.0.113.7')
  assert.equal(clientIn('PROXY UNKNOWN\r\n'), null)
  assert.equal(clientIn(`PROXY UNKNOWN ${'f'.repeat(91)}\r\n`), null)
  const behind = read('PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\nGET / HTTP/1.1\r\n')
  assert.deepEqual(behind, { length: 32, client: '1.2.3.4' })
})

test('version 1 is read strictly, and no further than 107 bytes', () => {
  const flawed = [
    'PROXY\r\n',
    'PROXY \r\n',
    'PROXY TCP4\r\n',
    'PROXY TCP5 1.2.3.4 5.6.7.8 1 2\r\n',
    'PROXY tcp4 1.2.3.4 5.6.7.8 1 2\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2 3\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2 \r\n',
    'PROXY TCP4  1.2.3.4 5.6.7.8 1 2\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 01 2\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 65536\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 -1 2\r\n',
    'PROXY TCP4 01.2.3.4 5.6.7.8 1 2\r\n',
    'PROXY TCP4 1.2.3 5.6.7.8 1 2\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    'PROXY TCP6 1.2.3.4 5.6.7.8 1 2\r\n',
    'PROXY TCP6 fe80::1%eth0 ::1 1 2\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 22\n',
    'PROXY TCP4 1.2.3.4 5.6.7 1 2\r\n',
    'PROXY TCP4 1.2.3.4 ::1 1 2\r\n',
    'PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\r\n',
    'PROXY TCP4 1.2.3.4\t5.6.7.8 1 2\r\n',
    `PROXY UNKNOWN ${'f'.repeat(92)}\r\n`,
    `PROXY UNKNOWN ${'f'.repeat(200)}`,
  ]
  for (const line of flawed) {
    const expected = line.startsWith('PROXY ') ? 'malformed' : 'missing'
    assert.deepEqual(clientIn(line), fault(expected), JSON.stringify(line))
  }
})

test('version 2 names a client of either family, itself, or none', () => {
  assert.equal(clientIn(proxyHeader({ client: '203.0.113.7' })), '203.0.113.7')
  assert.equal(clientIn(proxyHeader({ client: '2001:db8::7' })), '2001:db8::7')
  assert.equal(clientIn(proxyHeader({ client: '::ffff:203.0.113.7', family: 0x21 })), '203.0.113.7')
  assert.equal(clientIn(proxyHeader({ family: 0x31, addresses: Buffer.alloc(216) })), null)
  assert.equal(clientIn(proxyHeader({ family: 0x00 })), null)
  for (const family of [0x00, 0x11, 0x99])
    assert.equal(clientIn(proxyHeader({ command: 0, family })), 'local')
  // What stands behind the addresses is skipped, whatever it is.
  const extra = Buffer.alloc(65_535 - 12, 0xff)
  assert.equal(clientIn(proxyHeader({ client: '203.0.113.7', extra })), '203.0.113.7')
})

test('version 2 is read strictly', () => {
  const client = '203.0.113.7'
  const flawed = [
    proxyHeader({ client, version: 1 }),
    proxyHeader({ client, version: 3 }),
    proxyHeader({ client, command: 2 }),
    proxyHeader({ family: 0x12, addresses: Buffer.alloc(12) }),
    proxyHeader({ family: 0x22, addresses: Buffer.alloc(36) }),
    proxyHeader({ family: 0x41, addresses: Buffer.alloc(216) }),
    proxyHeader({ family: 0x11, addresses: Buffer.alloc(11) }),
    proxyHeader({ family: 0x21, addresses: Buffer.alloc(35) }),
    proxyHeader({ family: 0x31, addresses: Buffer.alloc(215) }),
  ]
  for (const bytes of flawed) assert.deepEqual(clientIn(bytes), fault('malformed'), bytes.toString('hex'))
  const bent = proxyHeader({ client })
  bent[11] = 0x0b
  assert.deepEqual(clientIn(bent), fault('missing'))
})

test('a header in pieces is read once it is whole; anything else is known by its first byte that differs', () => {
  const headers = [
    Buffer.from('PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n'),
    proxyHeader({ client: '2001:db8::7', extra: Buffer.alloc(40) }),
    proxyHeader({ command: 0 }),
  ]
  for (const header of headers) {
    for (let end = 0; end < header.length; end++) assert.equal(read(header.subarray(0, end)), null)
    assert.notEqual(read(header), null)
  }
  for (const text of [
    'G',
    'GET / HTTP/1.1\r\n',
    '\x16\x03\x01',
    'PROXy',
    '\r\n\r\n\0\r\nQUIT\r',
    '\r\n\r\nG',
  ])
    assert.equal(read(text), 'missing', JSON.stringify(text))
})

test('no bytes make the reader throw, or name a client that is no address', () => {
  const whole = [
    Buffer.from('PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\nGET'),
    proxyHeader({ client: '203.0.113.7', extra: Buffer.alloc(9) }),
    proxyHeader({ client: '2001:db8::7' }),
  ]
  fc.assert(
    fc.property(
      fc.constantFrom(...whole),
      fc.uint8Array({ maxLength: 120 }),
      fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 5 }),
      (header, noise, changes) => {
        const changed = Buffer.from(header)
        for (const [at, value] of changes) if (at < changed.length) changed[at] = value
        for (const bytes of [
          changed,
          Buffer.concat([Buffer.from('PROXY '), noise, Buffer.from('\r\n')]),
          Buffer.concat([header.subarray(0, 12), noise]),
        ]) {
          const result = readProxyHeader(bytes)
          if (result === null || typeof result === 'string') continue
          assert.equal(result.length <= bytes.length, true)
          if (result.client !== null && result.client !== 'local')
            assert.equal(isIP(result.client) > 0 && canonicalAddress(result.client) === result.client, true)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
