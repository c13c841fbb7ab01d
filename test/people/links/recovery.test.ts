import assert from 'node:assert/strict'
import { auditOf } from '../../../src/store/records/audit-entry.ts'
import { Invitations, reissueInvitation } from '../../../src/people/links/invitations.ts'
import { recover } from '../../../src/people/links/recovery.ts'
import { SignIn } from '../../../src/people/sign-in/sign-in.ts'
import { oauthGrant } from '../../store/contract-specimens.ts'
import { settleWithApp } from '../enrol.ts'
import { onStores, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'

onStores(
  'a member who has lost password and app comes back by a link; nothing of before opens anything',
  async village => {
    const account = await village.found()
    const { user } = await settleWithApp(village)
    const member = await village.join(user, account, { isSuper: true })
    const { sessions } = village.parts
    const proof = { method: 'password', secondFactor: true, at: village.clock.now() } as const
    const before = await sessions.begin(user, proof, visit)
    const grant = oauthGrant({ account: account.id, user: user.id })
    await village.store.oauthGrants.insert(grant)
    village.clock.advance(1_000)
    const origin = {
      account: account.id,
      caller: { id: 'command line' },
      now: village.clock.now(),
      address: '',
      ray: '',
    }
    const audit = auditOf(origin, 'update', { resourceKind: 'user', resource: user.id }, ['password', 'totp'])
    const link = (await recover(village.store, member, audit, village.clock))!
    assert.equal(await sessions.find(before.value), null)
    assert.equal(await village.store.oauthGrants.get(account.id, grant.id), null)
    const signIn = new SignIn(village.parts)
    assert.equal((await signIn.withPassword({ email: user.email, password }, visit)).outcome, 'refused')

    const invitations = new Invitations(village.parts)
    const next = { password: 'a much better password' }
    assert.equal((await invitations.find(link.value))!.isKnown, false)
    const back = await invitations.acceptWithPassword(link.value, next, visit)
    assert.ok(back.outcome === 'signed_in')
    assert.deepEqual((await village.store.members.get(account.id, member.id))!.record, member)
    assert.equal((await signIn.withPassword({ email: user.email, ...next }, visit)).outcome, 'signed_in')
    assert.deepEqual(await village.told(account), [
      ['command line', 'update', 'user', user.id, ['password', 'totp']],
      ['command line', 'revoke', 'oauth_grant', grant.id, []],
      [user.id, 'change_password', 'user', user.id, []],
    ])
    assert.deepEqual(await invitations.acceptWithPassword(link.value, next, visit), { outcome: 'gone' })
  },
)

onStores('a link to another account does not bring back who was recovered', async village => {
  const [account, other] = [await village.found(), await village.found()]
  const user = await village.settle()
  const member = await village.join(user, account)
  const invited = await village.join(user, other, { status: 'pending' })
  const { value } = await reissueInvitation(village.store, invited, village.clock.now())
  const origin = { account: account.id, caller: { id: 'command line' }, now: 1, address: '', ray: '' }
  const audit = auditOf(origin, 'update', { resourceKind: 'user', resource: user.id })
  const link = (await recover(village.store, member, audit, village.clock))!
  const invitations = new Invitations(village.parts)
  assert.equal((await invitations.find(value))!.isKnown, true)
  assert.equal((await invitations.acceptWithPassword(value, { password }, visit)).outcome, 'known')
  assert.equal((await invitations.acceptWithPassword(link.value, { password }, visit)).outcome, 'signed_in')
})

onStores('a user who is gone does not come back', async village => {
  const account = await village.found()
  const user = await village.settle()
  const member = await village.join(user, account)
  await village.store.users.remove(user.account, user.id)
  const origin = { account: account.id, caller: { id: 'command line' }, now: 1, address: '', ray: '' }
  const audit = auditOf(origin, 'update', { resourceKind: 'user', resource: user.id })
  assert.equal(await recover(village.store, member, audit, village.clock), null)
  assert.deepEqual(await village.told(account), [])
})
