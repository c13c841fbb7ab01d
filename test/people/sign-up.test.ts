import assert from 'node:assert/strict'
import { SignIn } from '../../src/people/sign-in/sign-in.ts'
import { SignUp } from '../../src/people/sign-up.ts'
import { onStores, visit } from './on-stores.ts'
import { password } from './settlement.ts'

const own = { email: 'New@example.com', password, firstName: 'New' }

onStores('where it is open, people become users, who are members of nothing', async village => {
  const signUp = new SignUp(village.parts, true)
  assert.deepEqual(await signUp.signUp(own, visit), { outcome: 'done' })
  const kept = (await village.store.users.findByEmail('new@example.com'))!.record
  assert.equal(kept.firstName, 'New')
  assert.deepEqual(await village.store.members.ofUser(kept.id), [])
  const done = await new SignIn(village.parts).withPassword(own, visit)
  assert.equal(done.outcome, 'signed_in')
})

onStores('an address that is taken gets the same words, and nothing changes', async village => {
  const user = await village.settle()
  const signUp = new SignUp(village.parts, true)
  const words = { email: user.email, password: 'what a stranger wants' }
  assert.deepEqual(await signUp.signUp(words, visit), { outcome: 'done' })
  assert.deepEqual((await village.store.users.findByEmail(user.email))!.record, user)
})

onStores('where it is not open, nobody does; and nowhere often', async village => {
  const closed = new SignUp(village.parts, false)
  assert.deepEqual(await closed.signUp(own, visit), { outcome: 'closed' })
  assert.equal(await village.store.users.findByEmail('new@example.com'), null)
  const open = new SignUp(village.parts, true)
  assert.equal((await open.signUp({ ...own, email: 'new' }, visit)).outcome, 'bad_email')
  assert.equal((await open.signUp({ ...own, password: 'short' }, visit)).outcome, 'flawed')
  for (let i = 0; i < 20; i++)
    assert.equal((await open.signUp({ ...own, email: `${i}@example.com` }, visit)).outcome, 'done')
  const { outcome } = await open.signUp({ ...own, email: 'last@example.com' }, visit)
  assert.equal(outcome, 'throttled')
})
