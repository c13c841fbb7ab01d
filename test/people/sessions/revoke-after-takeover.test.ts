import assert from 'node:assert/strict'
import { revokeAfterTakeover } from '../../../src/people/sessions/revoke-after-takeover.ts'
import { credential, oauthGrant } from '../../store/contract-specimens.ts'
import { onStores, visit } from '../on-stores.ts'

onStores('whatever was let in with a user ends, however much it is, and nothing of others', async village => {
  const { store, clock } = village
  const account = await village.found()
  const [user, other] = [await village.settle(), await village.settle()]
  for (let i = 0; i < 51; i++)
    await store.oauthGrants.insert(oauthGrant({ account: account.id, user: user.id }))
  const foreign = oauthGrant({ account: account.id, user: other.id })
  await store.oauthGrants.insert(foreign)
  const kinds = ['session', 'sign_in', 'authorization_code', 'access_token', 'refresh_token'] as const
  const opened = kinds.map(kind => credential(kind, { user: user.id }))
  const left = credential('refresh_token', { user: other.id })
  for (const one of [...opened, left]) await store.credentials.put(one)
  await revokeAfterTakeover(store, user.id, { caller: { id: user.id }, now: clock.now(), ...visit })
  assert.equal((await store.oauthGrants.ofUser(user.id, { offset: 0, limit: 1 })).total, 0)
  for (const { kind, digest } of opened) assert.equal(await store.credentials.get(kind, digest), null)
  assert.ok(await store.oauthGrants.get(account.id, foreign.id))
  assert.ok(await store.credentials.get('refresh_token', left.digest))
  const told = await village.told(account)
  assert.equal(told.length, 51)
  assert.deepEqual((told[0] as readonly unknown[]).slice(0, 3), [user.id, 'revoke', 'oauth_grant'])
})
