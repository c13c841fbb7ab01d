import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readAssertion, readAttestation, userHandle } from '../../../src/people/passkeys/ceremony-response.ts'
import { SoftAuthenticator } from '../soft-authenticator.ts'

const user = 'ab'.repeat(16)
const key = new SoftAuthenticator('https://id.example.com', user)
const challenge = Buffer.from('challenge').toString('base64url')

test('the responses of an authenticator are read', () => {
  const attestation = readAttestation(key.create(challenge))
  assert.deepEqual([attestation?.id, attestation?.challenge], [key.id, challenge])
  assert.deepEqual(attestation?.transports, ['internal', 'hybrid'])
  const assertion = readAssertion(key.get(challenge))
  assert.deepEqual([assertion?.id, assertion?.challenge, assertion?.user], [key.id, challenge, user])
  assert.equal(readAssertion(key.get(challenge, { user: null }))?.user, null)
  assert.equal(Buffer.from(userHandle(user), 'base64url').length, 16)
})

test('one is not taken for the other, and large or odd ones are nothing', () => {
  assert.equal(readAssertion(key.create(challenge)), null)
  assert.equal(readAttestation(key.get(challenge)), null)
  const good = JSON.parse(key.get(challenge))
  const changed = (more: object, inside: object = {}) =>
    readAssertion(JSON.stringify({ ...good, ...more, response: { ...good.response, ...inside } }))
  assert.ok(changed({}))
  for (const more of [{ id: 'other' }, { rawId: 7 }, { type: 'password' }, { id: '', rawId: '' }])
    assert.equal(changed(more), null, JSON.stringify(more))
  for (const inside of [
    { signature: 'a b' },
    { signature: 'A'.repeat(20_000) },
    { userHandle: 'AA' },
    { userHandle: 7 },
    { clientDataJSON: 'A'.repeat(5_000) },
    { clientDataJSON: Buffer.from('[]').toString('base64url') },
    { authenticatorData: null },
  ])
    assert.equal(changed({}, inside), null, JSON.stringify(inside).slice(0, 60))
})

test('no text makes reading fail, and what is read is within its bounds', () => {
  const base64url = fc.stringMatching(/^[\w-]{0,40}$/)
  const loose = fc.oneof(base64url, fc.jsonValue(), fc.constant(undefined))
  const clientData = fc
    .record({
      type: fc.constantFrom('webauthn.get', 'webauthn.create', 'x'),
      challenge: loose,
      crossOrigin: fc.oneof(fc.boolean(), fc.constant(undefined)),
    })
    .map(said => Buffer.from(JSON.stringify(said)).toString('base64url'))
  const response = fc.record(
    {
      clientDataJSON: fc.oneof(clientData, loose),
      attestationObject: loose,
      authenticatorData: loose,
      signature: loose,
      userHandle: loose,
      transports: fc.oneof(fc.array(loose), loose),
    },
    { requiredKeys: [] },
  )
  const shaped = fc
    .tuple(base64url, fc.oneof(response, loose), fc.constantFrom('public-key', 'x'))
    .map(([id, inside, type]) => JSON.stringify({ id, rawId: id, type, response: inside }))
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), shaped), text => {
      const read = readAssertion(text) ?? readAttestation(text)
      if (read === null) return
      assert.match(read.id, /^[\w-]{1,1364}$/)
      assert.match(read.challenge, /^[\w-]{1,256}$/)
      if ('transports' in read) for (const one of read.transports) assert.match(one, /^[a-z-]{1,16}$/)
      else if (read.user !== null) assert.match(read.user, /^[0-9a-f]{32}$/)
    }),
    { numRuns: 500 },
  )
})
