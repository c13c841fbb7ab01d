import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostCertificates } from '../../src/certificates/host-certificates.ts'
import { certificateStatus } from '../../src/certificates/acme/certificate-state.ts'
import type { TlsIdentity } from '../../src/config/model/config.ts'
import { Authority } from '../help/certificates.ts'

const day = 86_400_000

test('a host has what the configuration has for it, else what is got for it, else nothing', () => {
  const file = new Authority().issue(['*.shop.test'], { days: 30 })
  const now = Date.now()
  const standings = ['a.shop.test', 'auto.test'].map(host =>
    certificateStatus(host, null, 'https://acme.test/', now),
  )
  const tls = { certificates: [file] }
  const states = (at: number) =>
    hostCertificates(['a.shop.test', 'auto.test', 'none.test'], tls, standings, at).map(
      ({ host, source, state }) => `${host} ${source} ${state}`,
    )
  assert.deepEqual(states(now), [
    'a.shop.test file valid',
    'auto.test acme missing',
    'none.test null missing',
  ])
  assert.equal(states(now + 31 * day)[0], 'a.shop.test file expired')
})

test('a host has what its clients get, by its own name first and of each algorithm the first, of which the one that ends first counts', () => {
  const authority = new Authority()
  const exact = authority.issue(['a.shop.test'], { days: 30 })
  const wild = authority.issue(['*.shop.test'], { days: 20 })
  const old = authority.issue(['*.shop.test'], { days: -1 })
  const rsa = authority.issue(['*.shop.test'], { days: 10, key: 'rsa' })
  const early = authority.issue(['c.shop.test'], { days: 30, from: 5 })
  const now = Date.now()
  const stateOf = (certificates: readonly TlsIdentity[], host: string, at = now) => {
    const [{ state, notAfter } = assert.fail()] = hostCertificates([host], { certificates }, [], at)
    return `${state} ${Math.round((notAfter! - now) / day)}`
  }
  assert.equal(stateOf([old, exact], 'a.shop.test'), 'valid 30')
  assert.equal(stateOf([wild, old], 'b.shop.test'), 'valid 20')
  assert.equal(stateOf([old, wild], 'b.shop.test'), 'expired -1')
  assert.equal(stateOf([wild, rsa], 'b.shop.test'), 'valid 10')
  assert.equal(stateOf([early, wild], 'c.shop.test'), 'not_yet_valid 30')
  assert.equal(stateOf([early, wild], 'c.shop.test', now + 6 * day), 'valid 30')
})
