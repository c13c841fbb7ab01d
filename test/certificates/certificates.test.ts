import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Certificates } from '../../src/certificates/certificates.ts'
import { Authority } from '../help/certificates.ts'

const authority = new Authority()
const one = authority.issue(['one.example', 'both.example'])
const other = authority.issue(['other.example', 'both.example'])
const rsa = authority.issue(['both.example'], { key: 'rsa' })
const wild = authority.issue(['*.wild.example'])
const all = [one, other, rsa, wild]

const of = (
  certificates: readonly { certificate: string; key: string }[],
  before: Certificates | null = null,
) => new Certificates({ certificates, minVersion: 'TLSv1.2' }, before)

test('an exact name comes before a wildcard, which stands for one label; no name gets the first', () => {
  const certificates = of([...all, authority.issue(['a.wild.example'])])
  const find = (name: string | null) => certificates.find(name)
  assert.notEqual(find('one.example'), null)
  assert.equal(find(null), find('one.example'))
  assert.notEqual(find('a.wild.example'), find('b.wild.example'))
  assert.equal(find('b.wild.example'), find('c.wild.example'))
  for (const name of ['wild.example', 'a.b.wild.example', 'unknown.example', '', '.', 'one.example.'])
    assert.equal(find(name), null, name)
})

test('the first of two certificates with the same name and algorithm is used', () => {
  const certificates = of(all)
  const alone = of([one, rsa])
  assert.notEqual(certificates.find('both.example'), certificates.find('one.example'))
  assert.notEqual(alone.find('both.example'), null)
})

test('what is unchanged is taken over from before, so that sessions go on', () => {
  const before = of(all)
  const after = of([one, wild], before)
  assert.equal(after.find('one.example'), before.find('one.example'))
  assert.equal(after.find('x.wild.example'), before.find('x.wild.example'))
  assert.notEqual(after.find('both.example'), before.find('both.example'))
  const stricter = new Certificates({ certificates: all, minVersion: 'TLSv1.3' }, before)
  assert.notEqual(stricter.find('one.example'), before.find('one.example'))
})

test('certificates of the configuration come before automatic ones, wildcards too, and then those count', () => {
  const automatic = ['one.example', 'a.wild.example', 'new.example'].map(name => authority.issue([name]))
  const files = of([one, wild])
  const both = new Certificates({ certificates: [one, wild], minVersion: 'TLSv1.2' }, files, automatic)
  for (const name of ['one.example', 'a.wild.example', null]) assert.equal(both.find(name), files.find(name))
  assert.notEqual(both.find('new.example'), null)
  const alone = new Certificates({ certificates: [], minVersion: 'TLSv1.2' }, null, automatic)
  assert.equal(alone.find(null), alone.find('one.example'))
  assert.notEqual(alone.find('a.wild.example'), null)
  assert.equal(alone.find('b.wild.example'), null)
})

test('without certificates none is found, and a key of another certificate throws', () => {
  assert.equal(of([]).find(null), null)
  assert.throws(() => of([{ ...one, key: other.key }]), /key values mismatch/i)
})
