import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalAddress } from '../../../src/net/address/address.ts'
import { readProxyHeader } from '../../../src/edge/accept/proxy-header.ts'
import { crc32c } from '../../../src/edge/accept/crc32c.ts'
import { proxyHeader, tlv } from '../../help/proxy-header.ts'

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
    `PROXY UNKNOWN ${'f'.repeat(93)}`,
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
  // A TLV is skipped, whatever it holds, and so is all that comes with no address or by the balancer itself.
  const extra = tlv(0xff, Buffer.alloc(65_535 - 12 - 3, 0xff))
  assert.equal(clientIn(proxyHeader({ client: '203.0.113.7', extra })), '203.0.113.7')
  const any = Buffer.alloc(9, 0xff)
  assert.equal(clientIn(proxyHeader({ family: 0x00, extra: any })), null)
  assert.equal(clientIn(proxyHeader({ command: 0, family: 0x11, extra: any })), 'local')
})

test('version 2: TLVs end where the header does', () => {
  const name = tlv(0x02, Buffer.from('site.test'))
  const id = tlv(0x05, Buffer.alloc(128, 7))
  for (const parts of [{ client: '203.0.113.7' }, { client: '2001:db8::7' }]) {
    const accepts = (extra: Buffer) => clientIn(proxyHeader({ ...parts, extra })) === parts.client
    for (const good of [name, tlv(0x04, Buffer.alloc(0)), Buffer.concat([name, id, name])])
      assert.equal(accepts(good), true)
    for (let cut = 1; cut < name.length; cut++) {
      assert.equal(accepts(name.subarray(0, cut)), false)
      assert.equal(accepts(Buffer.concat([id, name.subarray(0, cut)])), false)
    }
    assert.equal(accepts(Buffer.concat([name, Buffer.alloc(1)])), false)
  }
  const unix = { family: 0x31, addresses: Buffer.alloc(216) }
  assert.equal(clientIn(proxyHeader({ ...unix, extra: name })), null)
  assert.deepEqual(clientIn(proxyHeader({ ...unix, extra: name.subarray(1) })), fault('malformed'))
})

/** Writes a header with its checksum between other TLVs. */
function checked(client: string): Buffer {
  const checksum = tlv(0x03, Buffer.alloc(4))
  const before = tlv(0x02, Buffer.from('site.test'))
  const header = proxyHeader({ client, extra: Buffer.concat([before, checksum, tlv(0x04, Buffer.alloc(5))]) })
  const at = header.length - 8 - 4
  header.writeUInt32BE(crc32c(header), at)
  return header
}

test('version 2: a header with a checksum is refused where any of its bits differs', () => {
  for (const client of ['203.0.113.7', '2001:db8::7']) {
    const header = checked(client)
    assert.equal(clientIn(header), client)
    for (let bit = 0; bit < 8 * header.length; bit++) {
      const bent = Buffer.from(header)
      bent[bit >> 3]! ^= 1 << (bit & 7)
      const result = read(bent)
      if (result === null) continue // a longer one, whose rest would have to come
      // Neither the balancer's own command nor another type of the TLV leaves a checksum to be compared.
      if (bit >> 3 === 12 || bit >> 3 === header.length - 15) continue
      assert.equal(typeof result, 'string', `bit ${bit}`)
    }
  }
})

test('version 2: a checksum of another size, and a second one, are refused', () => {
  const client = '203.0.113.7'
  for (const size of [0, 3, 5])
    assert.deepEqual(
      clientIn(proxyHeader({ client, extra: tlv(0x03, Buffer.alloc(size)) })),
      fault('malformed'),
    )
  const two = Buffer.concat([tlv(0x03, Buffer.alloc(4)), tlv(0x03, Buffer.alloc(4))])
  const header = proxyHeader({ client, extra: two })
  for (const behind of [11, 4]) {
    const bent = Buffer.from(header)
    bent.writeUInt32BE(crc32c(bent), bent.length - behind)
    assert.deepEqual(clientIn(bent), fault('malformed'))
  }
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
    proxyHeader({ client: '2001:db8::7', extra: tlv(0x04, Buffer.alloc(37)) }),
    proxyHeader({ command: 0 }),
  ]
  for (const header of headers) {
    for (let end = 0; end < header.length; end++) assert.equal(read(header.subarray(0, end)), null)
    assert.notEqual(read(header), null)
  }
  assert.equal(read(`PROXY UNKNOWN ${'f'.repeat(92)}`), null)
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
    checked('203.0.113.7'),
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
