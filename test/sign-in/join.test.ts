import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reissueInvitation } from '../../src/people/links/invitations.ts'
import { roles } from '../../src/permissions/roles.ts'
import { dashboardOf, invitationPath, paths } from '../../src/pages/parts/paths.ts'
import type { Member, User } from '../../src/store/records/people.ts'
import { userWith } from '../people/user-with.ts'
import { Site } from './site.ts'
import { password } from '../people/settlement.ts'

test('the first super administrator comes in by a link, which works once', async t => {
  const site = await Site.open(t)
  const account = await site.found()
  const link = await site.setUpLink(account)
  const visitor = site.visitor()
  const page = await visitor.get(link)
  const person = { email: 'Ada@Example.com', first_name: 'Ada', last_name: '', password }
  const faulty = await page.submit(paths.setUp, { ...person, password: 'password1234' })
  assert.equal(faulty.status, 422)
  assert.match(faulty.text, /must not be one of the most common/)
  assert.match(faulty.body, /value="Ada&#64;Example\.com"|value="Ada@Example\.com"/)
  assert.doesNotMatch(faulty.body, /password1234/)
  const noAddress = await faulty.submit(paths.setUp, { ...person, email: 'ada' })
  assert.match(noAddress.text, /The address must be an e-mail address/)
  const done = await noAddress.submit(paths.setUp, person)
  assert.deepEqual([done.status, done.location], [303, paths.dashboard])
  assert.match((await visitor.get(paths.account)).text, /Ada, ada@example\.com/)
  const user = await site.store.users.findByEmail('ada@example.com')
  const member = await site.store.members.find(account.id, user!.record.id)
  assert.deepEqual([member!.record.isSuper, member!.record.status], [true, 'accepted'])
  assert.match((await visitor.get(link)).text, /This link is over/)
  assert.match((await noAddress.submit(paths.setUp, person)).text, /out of date|This link is over/)
})

test('without a dashboard, signing in leads to the profile', async t => {
  const site = await Site.open(t)
  site.hasDashboard = false
  const visitor = site.visitor()
  const page = await visitor.get(await site.setUpLink(await site.found()))
  const person = { email: 'ada@example.com', first_name: 'Ada', last_name: '', password }
  assert.equal((await page.submit(paths.setUp, person)).location, paths.account)
  const user = userWith({ email: 'grace@example.com' })
  await site.store.users.insert(user)
  const invitation = await site.visitor().get(await invite(site, user))
  const done = await invitation.submit(paths.invitation, { first_name: 'Grace', password })
  assert.equal(done.location, paths.account)
  assert.ok(!(await visitor.get(paths.account)).body.includes(`href="${paths.dashboard}"`))
})

/** Invites somebody, and returns the path of the link. */
async function invite(site: Site, user: User): Promise<string> {
  const account = await site.found({ name: 'Tea & <Co>' })
  const member = await site.join(user, account, { status: 'pending', roles: [roles[1]!.id] })
  return invitationPath((await reissueInvitation(site.store, member, site.clock.now())).value)
}

test('an invited new user sets a password', async t => {
  const site = await Site.open(t)
  const user = userWith({ email: 'grace@example.com' })
  await site.store.users.insert(user)
  const link = await invite(site, user)
  const visitor = site.visitor()
  const page = await visitor.get(link)
  assert.match(page.text, /Join Tea & <Co> .*For grace@example\.com As Administrator/)
  const faulty = await page.submit(paths.invitation, { first_name: 'Grace', password: 'short' })
  assert.match(faulty.text, /at least 12 characters/)
  assert.match(faulty.body, /value="Grace"/)
  const done = await faulty.submit(paths.invitation, { first_name: 'Grace', password })
  const [{ account }] = (await site.store.members.ofUser(user.id)) as [Member]
  assert.equal(done.location, dashboardOf(account))
  assert.match((await visitor.get(paths.account)).text, /Grace, grace@example\.com/)
  assert.equal((await site.visitor().get(link)).status, 404)
})

test('an invited existing user signs in and then accepts', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const link = await invite(site, user)
  const visitor = site.visitor()
  const page = await visitor.get(link)
  assert.match(page.text, /Sign in to accept/)
  const signIn = await visitor.get(/href="([^"]*sign-in[^"]*)"/.exec(page.body)![1]!.replaceAll('&#38;', '&'))
  const back = await signIn.submit(paths.signIn, { email: user.email, password })
  assert.equal(back.location, link)
  const accepted = await (await back.follow()).submit(paths.invitation)
  const [member] = await site.store.members.ofUser(user.id)
  assert.equal(member!.status, 'accepted')
  assert.equal(accepted.location, dashboardOf(member!.account))
})

test('an invitation of somebody else cannot be accepted, and leads out', async t => {
  const site = await Site.open(t)
  const link = await invite(site, await site.settle({ email: 'grace@example.com' }))
  const visitor = await site.signedIn(await site.settle())
  const page = await visitor.get(link)
  assert.match(page.text, /the invitation is for grace@example\.com/)
  const out = await page.submit(paths.signOut)
  assert.equal(out.location, link)
  assert.match((await out.follow()).text, /Sign in to accept/)
})

test('people sign up by themselves only where they may, and nobody learns who is there', async t => {
  const closed = await Site.open(t)
  assert.equal((await closed.visitor().get(paths.signUp)).status, 404)
  assert.doesNotMatch((await closed.visitor().get(paths.signIn)).text, /Create an account/)
  const site = await Site.open(t, { config: { signUp: 'open' } })
  const { email } = await site.settle()
  const said = await Promise.all(
    [email, 'new@example.com'].map(async email => {
      const page = await site.visitor().get(paths.signUp)
      const done = await page.submit(paths.signUp, { email, password: 'another good password' })
      return done.text.replaceAll(email, 'EMAIL')
    }),
  )
  assert.equal(said[0], said[1])
  assert.match(said[0]!, /Now sign in with your email and password/)
  for (const [who, its] of [
    [email, password],
    ['new@example.com', 'another good password'],
  ] as const) {
    const page = await site.visitor().get(paths.signIn)
    assert.equal((await page.submit(paths.signIn, { email: who, password: its })).status, 303)
  }
})
