import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdingsOf } from '../../src/certificates/holdings.ts'
import { standingOf } from '../../src/certificates/acme/standing.ts'
import { Authority } from '../help/certificates.ts'

const day = 86_400_000

test('a host has what the configuration has for it, else what is got for it, else nothing', () => {
  const file = new Authority().issue(['*.shop.test'], { days: 30 })
  const now = Date.now()
  const standings = ['a.shop.test', 'auto.test'].map(host =>
    standingOf(host, null, 'https://acme.test/', now),
  )
  const tls = { certificates: [file] }
  const states = (at: number) =>
    holdingsOf(['a.shop.test', 'auto.test', 'none.test'], tls, standings, at).map(
      ({ host, source, state }) => `${host} ${source} ${state}`,
    )
  assert.deepEqual(states(now), [
    'a.shop.test file valid',
    'auto.test acme missing',
    'none.test null missing',
  ])
  assert.equal(states(now + 31 * day)[0], 'a.shop.test file expired')
})
