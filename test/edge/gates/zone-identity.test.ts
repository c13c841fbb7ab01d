import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Admission, GateFault } from '../../../src/edge/gates/gate.ts'
import { ZoneIdentity } from '../../../src/edge/gates/zone-identity.ts'
import { HeaderChanges } from '../../../src/edge/rewrite/headers.ts'
import { ManualClock } from '../../help/clock.ts'
import { startIdentityKeys } from '../../help/identity-keys.ts'
import { linesAfter } from './lines-after.ts'

const config = { issuer: 'https://site.test', audience: 'site', claims: ['email'] }

function admissionOf(subject: string | null): Admission & { isValid: boolean } {
  return {
    isValid: true,
    ...{ subject, claims: { email: 'a@b.example' }, changes: new HeaderChanges(new Set(['x-a']), [], []) },
    isCurrent() {
      return this.isValid
    },
  }
}

test('an admission gets a token beside its other changes, again only after a minute', async t => {
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const identity = new ZoneIdentity(config, { keys: await startIdentityKeys(t, clock), clock })
  const admission = admissionOf('user:u')
  const under = [identity.addTo(admission), identity.addTo(admission)]
  assert.equal(under[0], under[1], 'signed once')
  const signed = (await under[0]) as Admission
  const [line, ...more] = linesAfter(signed.changes, ['X-A', 'b', 'svc-identity', 'forged'])
  assert.deepEqual(more, [])
  const { sub, email } = decodeJwt(line!.replace('svc-identity: ', ''))
  assert.deepEqual([sub, email, signed.subject], ['user:u', 'a@b.example', 'user:u'])
  clock.advance(59_999)
  assert.equal(identity.addTo(admission), signed)
  assert.equal(signed.isCurrent(), true)
  admission.isValid = false
  assert.equal(signed.isCurrent(), false)
  admission.isValid = true
  clock.advance(1)
  assert.equal(signed.isCurrent(), false)
  const again = (await identity.addTo(admission)) as Admission
  assert.notEqual(again, signed)
  clock.advance(-60_000)
  assert.equal(again.isCurrent(), false, 'the clock was set back')
  const nobody = admissionOf(null)
  assert.equal(identity.addTo(nobody), nobody)
})

test('without a key nobody is let in, and there is no key set; both come back', async t => {
  const clock = new ManualClock()
  const real = await startIdentityKeys(t, clock)
  let isAway = true
  const keys = { current: () => (isAway ? Promise.reject(new Error('away')) : real.current()) }
  const identity = new ZoneIdentity(config, { keys, clock })
  const admission = admissionOf('user:u')
  const { kind, cause, wait } = (await identity.addTo(admission)) as GateFault
  assert.deepEqual(
    [kind, cause.code, wait, await identity.keySet()],
    ['unavailable', 'GH_IDENTITY_KEY_MISSING', 5, null],
  )
  isAway = false
  assert.ok('changes' in (await identity.addTo(admission)))
  const { keys: published } = JSON.parse((await identity.keySet())!)
  assert.deepEqual(published, (await real.current()).published)
})
