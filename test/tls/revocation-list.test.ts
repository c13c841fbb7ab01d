import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readRevocationList } from '../../src/tls/revocation-list.ts'
import { Authority } from '../help/certificates.ts'
import { root } from '../help/source.ts'

const day = 86_400_000

test('a revocation list says whose it is, and from when until when it counts', () => {
  const authority = new Authority('Clients of the shop')
  authority.revoke(authority.issue([]))
  const { issuer, thisUpdate, nextUpdate } = readRevocationList(authority.revocationList(7))
  assert.equal(issuer, 'Clients of the shop')
  assert.equal(nextUpdate - thisUpdate, 7 * day)
  assert.ok(Math.abs(thisUpdate - Date.now()) < 60_000)
  const old = readRevocationList(authority.revocationList(-3))
  assert.ok(Math.abs(old.nextUpdate - Date.now() + 3 * day) < 60_000)
})

test('times beyond 2049 are read too', () => {
  const pem = readFileSync(join(root, 'test/golden/config/files/clients.crl'), 'utf8')
  const { issuer, nextUpdate } = readRevocationList(pem)
  assert.equal(issuer, 'Clients')
  assert.ok(nextUpdate > Date.UTC(2100), new Date(nextUpdate).toISOString())
})

/** Writes a value of DER of fewer than 128 bytes. */
function der(tag: number, ...content: readonly (Buffer | string)[]): Buffer {
  const bytes = Buffer.concat(content.map(part => Buffer.from(part as string, 'latin1')))
  return Buffer.concat([Buffer.from([tag, bytes.length]), bytes])
}

const [sequence, set, integer, utf8, utcTime, generalizedTime] = [0x30, 0x31, 0x02, 0x0c, 0x17, 0x18]
const version = der(integer, '\x01')
const algorithm = der(sequence)
const attribute = (value: string) => der(sequence, der(0x06, 'U\x04\x03'), der(utf8, value))
const issuer = der(sequence, der(set, attribute('Shop')), der(set, attribute('Clients'), attribute('West')))

function listOf(...parts: readonly Buffer[]): ReturnType<typeof readRevocationList> {
  const list = der(sequence, der(sequence, ...parts), algorithm)
  const base64 = list.toString('base64').replaceAll(/.{64}/g, '$&\n')
  return readRevocationList(`-----BEGIN X509 CRL-----\n${base64}\n-----END X509 CRL-----\n`)
}

test('the issuer of a list is all values of its name, in the first version too', () => {
  const time = der(utcTime, '260101000000Z')
  for (const parts of [[version], []]) {
    const list = listOf(...parts, algorithm, issuer, time)
    assert.deepEqual(list, {
      issuer: 'Shop, Clients, West',
      thisUpdate: Date.UTC(2026, 0, 1),
      nextUpdate: Number.POSITIVE_INFINITY,
    })
  }
  const odd = der(
    sequence,
    der(set, der(utf8, der(utf8, 'no'), der(utf8, 'pair')), attribute('x'), der(sequence)),
  )
  assert.equal(listOf(version, algorithm, odd, time).issuer, 'x')
})

test('a list whose next update is not said counts for good, whatever comes instead', () => {
  const time = der(utcTime, '260101000000Z')
  assert.equal(listOf(version, algorithm, issuer, time, der(sequence)).nextUpdate, Number.POSITIVE_INFINITY)
  assert.equal(
    listOf(version, algorithm, issuer, time, der(utcTime, '260102000000Z'), der(sequence)).nextUpdate,
    Date.UTC(2026, 0, 2),
  )
})

test('times are read as RFC 5280 has them, and others as none', () => {
  const times: readonly (readonly [tag: number, text: string, time: number])[] = [
    [utcTime, '491231235959Z', Date.UTC(2049, 11, 31, 23, 59, 59)],
    [utcTime, '500101000000Z', Date.UTC(1950, 0, 1)],
    [utcTime, '000102030405Z', Date.UTC(2000, 0, 2, 3, 4, 5)],
    [generalizedTime, '20500102030405Z', Date.UTC(2050, 0, 2, 3, 4, 5)],
    [generalizedTime, '500102030405Z', Number.NaN],
    [utcTime, '20500102030405Z', Number.NaN],
    [utcTime, '2601020304Z', Number.NaN],
    [utcTime, '260102030405+0100', Number.NaN],
    [generalizedTime, '20500102030405.5Z', Number.NaN],
    [utcTime, '261302030405Z', Number.NaN],
  ]
  for (const [tag, text, time] of times) {
    const list = listOf(version, algorithm, issuer, der(tag, text), der(tag, text))
    assert.deepEqual([list.thisUpdate, list.nextUpdate], [time, time], text)
  }
})
