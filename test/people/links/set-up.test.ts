import assert from 'node:assert/strict'
import { areSuper } from '../../../src/permissions/roles.ts'
import { newSetUp } from '../../../src/people/links/links.ts'
import { Invitations, reissueInvitation } from '../../../src/people/links/invitations.ts'
import { SetUp } from '../../../src/people/links/set-up.ts'
import { onStores, type Village, visit } from '../on-stores.ts'
import { password } from '../settlement.ts'

const minute = 60_000
const ada = { email: 'Ada@example.com', password }

async function prepare(village: Village) {
  const account = await village.found()
  const link = newSetUp(account.id, village.clock.now())
  await village.store.credentials.put(link.credential)
  return { account, value: link.value, setUp: new SetUp(village.parts) }
}

onStores('the link makes the first super administrator, signed in, once', async village => {
  const { account, value, setUp } = await prepare(village)
  assert.deepEqual(await setUp.find(value), account)
  assert.equal(await new Invitations(village.parts).find(value), null, 'it is no invitation')
  const guest = await village.join(await village.settle(), account, { status: 'pending' })
  const invitation = await reissueInvitation(village.store, guest, village.clock.now())
  assert.equal(await setUp.find(invitation.value), null, 'an invitation sets nothing up')
  const done = await setUp.complete(value, { ...ada, firstName: 'Ada', lastName: 'Lovelace' }, visit)
  assert.ok(done.outcome === 'signed_in')
  assert.deepEqual(
    [done.user.email, done.user.firstName, done.user.lastName],
    ['ada@example.com', 'Ada', 'Lovelace'],
  )
  assert.ok(await village.parts.sessions.find(done.value))
  const [member, ...others] = await village.store.members.ofUser(done.user.id)
  assert.equal(others.length, 0)
  assert.deepEqual(
    [member!.account, member!.status, member!.isSuper, areSuper(member!.roles)],
    [account.id, 'accepted', true, true],
  )
  assert.deepEqual(await village.told(account), [
    [done.user.id, 'create', 'member', member!.id, ['user', 'roles']],
  ])
  assert.equal(await setUp.find(value), null)
  const again = await setUp.complete(value, { ...ada, email: 'other@example.com' }, visit)
  assert.deepEqual(again, { outcome: 'gone' })
})

onStores('of twenty at once, over two processes, one is set up', async village => {
  const { account, value } = await prepare(village)
  const ways = [new SetUp(village.parts), new SetUp(await village.elsewhere())]
  const all = Array.from({ length: 20 }, (_, i) =>
    ways[i % 2]!.complete(value, { ...ada, email: `${i}@example.com` }, visit),
  )
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome)
  assert.equal(outcomes.filter(outcome => outcome === 'signed_in').length, 1)
  assert.equal((await village.store.members.list(account.id, { offset: 0, limit: 10 })).total, 1)
})

onStores('the link is good for fifteen minutes', async village => {
  const { value, setUp } = await prepare(village)
  village.clock.advance(14 * minute)
  assert.ok(await setUp.find(value))
  village.clock.advance(minute + 1_000)
  assert.equal(await setUp.find(value), null)
  assert.deepEqual(await setUp.complete(value, ada, visit), { outcome: 'gone' })
})

onStores('a mistake leaves the link as it is', async village => {
  const { value, setUp } = await prepare(village)
  const taken = await village.settle()
  assert.equal((await setUp.complete(value, { ...ada, email: 'ada' }, visit)).outcome, 'bad_email')
  assert.equal((await setUp.complete(value, { ...ada, password: 'short' }, visit)).outcome, 'flawed')
  assert.equal((await setUp.complete(value, { ...ada, email: taken.email }, visit)).outcome, 'email_taken')
  assert.equal((await setUp.complete(value, ada, visit)).outcome, 'signed_in')
})
