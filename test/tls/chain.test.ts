// The order of certificates, in whichever they were given.

import { deepEqual, equal } from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { chainFor } from '../../src/tls/chain.ts'
import { Authority } from '../help/certificates.ts'

const root = new Authority('Root')
const middle = root.intermediate('Middle')
const near = middle.intermediate('Near')
const leaf = near.issue(['a.test'])
const other = new Authority('Other').issue(['b.test'])
const key = createPrivateKey(leaf.key)
const chain = [leaf.certificate, near.certificate, middle.certificate, root.certificate]

test('the one of the key is first, and each other behind one that it issued, in whichever order they are given', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(chain, { minLength: 4 }), given => {
      deepEqual(chainFor(key, given), { certificates: chain, strangers: [] })
    }),
  )
})

test('none is lost and none comes twice, whatever is given', () => {
  const all = [...chain, other.certificate]
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...all)), given => {
      const found = chainFor(key, given)
      if (!given.includes(leaf.certificate)) return equal(found, null)
      const { certificates, strangers } = found!
      equal(certificates[0], leaf.certificate)
      deepEqual([...certificates].sort(), [...new Set(given)].sort())
      // What is issued by nobody there, and issued nobody there.
      const reached = chain.slice(0, chain.findIndex(pem => !given.includes(pem)) >>> 0)
      deepEqual(certificates.slice(0, reached.length), reached)
      deepEqual([...strangers].sort(), [...new Set(given)].filter(pem => !reached.includes(pem)).sort())
    }),
  )
})
