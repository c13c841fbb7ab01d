import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newToken, withSettings } from '../../src/tokens/new-token.ts'
import { digestOf, mintToken } from '../../src/tokens/token.ts'
import { account } from './token-with.ts'

const policy = {
  effect: 'allow',
  permissionGroups: ['a27621d5ea9af545e8a8cb080c699127'],
  accounts: [account],
} as const
const person = { user: 'u'.repeat(32), email: 'a@b.example', member: 'm'.repeat(32) }
const lasting = { gateways: ['shop'], models: ['openai/*'], spendLimits: { isEnabled: true, rules: [] } }
const limits = { notBefore: 1, expiresOn: 9, addressesIn: ['::1'], addressesNotIn: ['192.0.2.1'] }

test('a new token is active and without limits but for those that are set, and its value is only digested', () => {
  const { token, value } = newToken(account, { name: 'a token', policies: [policy] }, 7, mintToken())
  const { id, policies, ...rest } = token
  assert.match(id, /^[0-9a-f]{32}$/)
  assert.deepEqual(policies, [{ id: policies[0]!.id, ...policy }])
  assert.notEqual(policies[0]!.id, id)
  assert.deepEqual(rest, {
    account,
    name: 'a token',
    digest: digestOf(value),
    status: 'active',
    notBefore: null,
    expiresOn: null,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: 7,
    modifiedOn: 7,
  })
  const { token: narrow } = newToken(
    account,
    { name: 'x', policies: [], ...limits, ...lasting },
    7,
    mintToken(),
    person,
  )
  assert.deepEqual(narrow, {
    ...rest,
    ...limits,
    ...lasting,
    person,
    name: 'x',
    policies: [],
    id: narrow.id,
    digest: narrow.digest,
  })
})

test('settings take the place of all settings, and of nothing else', () => {
  const { token } = newToken(account, { name: 'before', policies: [policy], ...limits }, 7, mintToken())
  const { modifiedOn, name, policies, ...rest } = withSettings(token, { name: 'after', policies: [] }, 8)
  assert.deepEqual([modifiedOn, name, policies], [8, 'after', []])
  const { account: _, id, digest, status, issuedOn } = token
  assert.deepEqual(withSettings({ ...token, person }, { name: 'after', policies: [] }, 8).person, person)
  const unlimited = { notBefore: null, expiresOn: null, addressesIn: [], addressesNotIn: [] }
  assert.deepEqual(rest, { account, id, digest, status, issuedOn, ...unlimited })
})
