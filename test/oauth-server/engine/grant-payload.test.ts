import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  grantPayload,
  readReference,
  writeReference,
} from '../../../src/oauth-server/engine/grant-payload.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { clientWith } from '../../oauth/clients/client-with.ts'
import { oauthGrant } from '../../store/contract-specimens.ts'

const [account, grant, family] = ['a'.repeat(32), 'b'.repeat(32), 'c'.repeat(32)]

test('a reference is read as it was written, for an account and for none', () => {
  for (const reference of [
    { account, grant, family },
    { account: everybody, grant, family },
  ])
    assert.deepEqual(readReference(writeReference(reference)), reference)
})

test('anything else is no reference', () => {
  for (const text of [
    undefined,
    '',
    `${account}.${grant}`,
    `${account}.${grant}.${family}.`,
    `${account}.${grant}.${family.slice(1)}`,
    `${account}.${grant.toUpperCase()}.${family}`,
    `.${grant}.${family}`,
  ])
    assert.equal(readReference(text), null, `${text}`)
})

test('a consent is for the scopes that the client still has, with what they include', () => {
  const consent = oauthGrant({ scopes: ['user.read', 'zones.read', 'openid'] })
  const client = clientWith({ id: consent.client, scopes: ['user.read', 'openid'] })
  const before = Math.floor(Date.now() / 1_000)
  const resources = ['https://ai.example', 'https://id.example']
  const reference = { account, grant, family }
  const { iat, exp, ...payload } = grantPayload(consent, client, { reference, resources })
  const scope = 'user.read openid email profile'
  assert.deepEqual(payload, {
    jti: `${account}.${grant}.${family}`,
    ...{ kind: 'Grant', accountId: consent.user, clientId: client.id, openid: { scope } },
    resources: Object.fromEntries(resources.map(resource => [resource, scope])),
  })
  assert.ok(Number(iat) >= before && Number(iat) <= Date.now() / 1_000)
  assert.equal(exp, Number(iat) + 3_600)
})
