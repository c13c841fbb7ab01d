import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '../../src/base/ids/id.ts'
import { formToken } from '../../src/pages/forms/csrf.ts'
import { dashboardOf, paths } from '../../src/pages/parts/paths.ts'
import { roles } from '../../src/permissions/roles.ts'
import type { User } from '../../src/store/records/people.ts'
import { codeAt } from '../people/authenticator.ts'
import { oauthGrant } from '../store/contract-specimens.ts'
import { clientWith } from '../oauth/clients/client-with.ts'
import { type ShownPage, Site, unescaped, Visitor } from './site.ts'
import { password } from '../people/settlement.ts'
import { SoftAuthenticator } from '../people/soft-authenticator.ts'

test('a password is changed with the old one, and ends all other sessions', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const [here, there] = [await site.signedIn(user), await site.signedIn(user)]
  const page = await here.get(paths.account)
  const wrong = await page.submit(paths.password, {
    password: 'a wrong one',
    new_password: 'a quite new password',
  })
  assert.deepEqual([wrong.status, /The password is wrong\./.test(wrong.text)], [403, true])
  const common = await page.submit(paths.password, { password, new_password: 'password1234' })
  assert.match(common.text, /must not be one of the most common/)
  const changed = await page.submit(paths.password, { password, new_password: 'a quite new password' })
  assert.equal(changed.location, `${paths.account}?done=password`)
  assert.match((await changed.follow()).text, /Your password is changed\./)
  assert.equal((await there.get(paths.account)).status, 303)
})

test('the profile leads members who may call models to their tokens, in each account', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const visitor = await site.signedIn(user)
  const [runs, reads] = ['AI Gateway Admin', 'Administrator Read Only'].map(
    name => roles.find(role => role.name === name)!.id,
  )
  const linked = async () =>
    [...(await visitor.get(paths.account)).body.matchAll(/href="([^"]*your-tokens)"/g)].map(
      ([, path]) => path,
    )
  assert.deepEqual(await linked(), [])
  const [shop, strict, closed] = [
    await site.found(),
    await site.found({ enforceTwoFactor: true }),
    await site.found(),
  ]
  await site.join(user, shop, { roles: [runs!] })
  await site.join(user, strict, { roles: [runs!] })
  await site.join(user, closed, { roles: [reads!] })
  assert.deepEqual(await linked(), [`${dashboardOf(shop.id)}/your-tokens`])
  site.hasDashboard = false
  assert.deepEqual(await linked(), [])
})

test('a form of a user who is signed out while it is sent changes nothing', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const visitor = await site.signedIn(user)
  const fields = (await visitor.get(paths.account)).hidden(paths.password)
  const change = { ...fields, password, new_password: 'a quite new password' }
  await visitor.postLate(paths.password, change, () => site.people.sessions.endEverything(user.id))
  assert.equal((await (await site.signedIn(user)).get(paths.account)).status, 200)
})

test('sessions are listed with their browsers, and ended one by one or all', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const [here, there] = [await site.signedIn(user), await site.signedIn(user)]
  const page = await here.get(paths.account)
  assert.match(page.text, /This browser From 192\.0\.2\.7\. Signed in/)
  const ended = await page.submit(paths.endSession)
  assert.match((await ended.follow()).text, /The session was ended\./)
  assert.equal((await there.get(paths.account)).status, 303)
  const out = await (await here.get(paths.account)).submit(paths.endAllSessions)
  assert.equal(out.location, paths.signedOut)
  assert.equal((await here.get(paths.account)).status, 303)
})

test('a user cannot end the session of another user', async t => {
  const site = await Site.open(t)
  const other = await site.settle()
  const theirs = await site.signedIn(other)
  const [session] = await site.people.sessions.list(other.id)
  const user = await site.settle()
  const [here] = [await site.signedIn(user), await site.signedIn(user)]
  await (await here.get(paths.account)).submit(paths.endSession, { session: session!.id })
  assert.equal((await theirs.get(paths.account)).status, 200)
})

test('two steps are turned on by a first code, with recovery codes, and off again', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  const begun = await (await visitor.get(paths.account)).submit(paths.twoStep)
  const page = await begun.follow()
  assert.match(page.body, /<svg class="qr" role="img"/)
  const uri = /href="(otpauth:[^"]+)"/.exec(page.body)![1]!.replaceAll('&#38;', '&')
  const wrong = await page.submit(paths.twoStepConfirm, { code: '000000' })
  assert.match(wrong.text, /This code is wrong\./)
  const on = await wrong.submit(paths.twoStepConfirm, { code: codeAt(uri, site.clock.now()) })
  assert.equal(on.body.match(/<li><code>[a-z2-7-]{19}<\/code>/g)?.length, 10)
  const account = await visitor.get(`${paths.account}?done=two_step_on`)
  assert.match(account.text, /Two-step sign-in is on\..*10 recovery codes are left/)
  const renewed = await account.submit(paths.recoveryCodes)
  assert.equal(renewed.body.match(/<li><code>/g)?.length, 10)
  assert.notEqual(renewed.body, on.body)
  const off = await account.submit(paths.twoStepOff)
  assert.match((await off.follow()).text, /Two-step sign-in is off\./)
})

test('a user without the second factor that an account requires is told so', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  await site.join(user, await site.found({ enforceTwoFactor: true }))
  const page = await (await site.signedIn(user)).get(paths.account)
  assert.match(page.text, /An account that you are a member of requires it\./)
})

test('a connected app is shown with what it may do, and disconnected with all its tokens', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const account = await site.found({ name: 'Example Ltd' })
  const client = clientWith({ account: account.id, name: 'Tea <Ledger>' })
  await site.store.oauthClients.insert(client)
  const grant = oauthGrant({
    account: account.id,
    user: user.id,
    client: client.id,
    clientAccount: account.id,
    scopes: ['ai_gateway.run'],
  })
  await site.store.oauthGrants.insert(grant)
  const other = oauthGrant({ account: account.id })
  await site.store.oauthGrants.insert(other)
  const visitor = await site.signedIn(user)
  const page = await visitor.get(paths.account)
  assert.match(page.text, /Tea <Ledger> In Example Ltd, for the management API\. Connected .* AI Gateway Run/)
  assert.equal((await page.submit(paths.endGrant, { grant: other.id })).status, 303)
  assert.ok(await site.store.oauthGrants.get(account.id, other.id))
  const ended = await page.submit(paths.endGrant)
  assert.match((await ended.follow()).text, /The app was disconnected.*No app acts for you\./)
  assert.equal(await site.store.oauthGrants.get(account.id, grant.id), null)
})

test('an app behind those that the page lists can be disconnected too', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const account = await site.found()
  const grants = Array.from({ length: 102 }, (_, createdAt) =>
    oauthGrant({ account: account.id, user: user.id, client: newId(), createdAt }),
  )
  for (const grant of grants) await site.store.oauthGrants.insert(grant)
  const page = await (await site.signedIn(user)).get(paths.account)
  const last = grants.at(-1)!
  assert.equal((await page.submit(paths.endGrant, { grant: last.id })).status, 303)
  const { total } = await site.store.oauthGrants.ofUser(user.id, { offset: 0, limit: 1 })
  assert.deepEqual([await site.store.oauthGrants.get(account.id, last.id), total], [null, 101])
})

test('only members of an account get a link back to the dashboard', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const visitor = await site.signedIn(user)
  const alone = await visitor.get(paths.account)
  assert.match(alone.text, /You are in no account yet\./)
  assert.ok(!alone.body.includes(`href="${paths.dashboard}"`))
  await site.join(user, await site.found())
  const page = await visitor.get(paths.account)
  assert.ok(page.body.includes(`href="${paths.dashboard}"`))
  assert.doesNotMatch(page.text, /no account yet/)
})

test('an invitation is shown, declined and accepted in the profile of who has proven the address alone', async t => {
  const site = await Site.open(t)
  const identity = { issuer: 'https://id.example', subject: 'grace' }
  const [unproven, proven] = [await site.settle(), await site.settle({ identity })]
  const invite = async (user: User) => {
    const account = await site.found({ name: 'Tea & <Co>' })
    return site.join(user, account, { status: 'pending', roles: [roles[1]!.id] })
  }
  const visitor = await site.signedIn(unproven)
  const invitation = await invite(unproven)
  const other = await invite(proven)
  const page = await visitor.get(paths.account)
  assert.match(page.text, /You are in no account yet\. An administrator of one can invite you with a link\./)
  assert.ok(!page.body.includes(paths.acceptInvitation) && !page.body.includes('Tea'))
  for (const { account, id } of [invitation, other]) {
    for (const path of [paths.acceptInvitation, paths.declineInvitation]) {
      const form_token = formToken(visitor.cookies.get('gatehouse')!, path)
      const refused = await visitor.post(path, { membership: id, form_token })
      const shown = refused.status === 303 ? await refused.follow() : refused
      assert.doesNotMatch(shown.text, /Tea|was declined/)
    }
    assert.equal((await site.store.members.get(account, id))?.record.status, 'pending')
  }

  const friend = await site.signedIn(proven)
  const declined = await invite(proven)
  const both = await friend.get(paths.account)
  assert.match(both.text, /Tea & <Co> As Administrator/)
  const gone = await both.submit(paths.declineInvitation, { membership: declined.id })
  assert.match((await gone.follow()).text, /The invitation was declined\./)
  assert.equal(await site.store.members.get(declined.account, declined.id), null)
  const accepted = await (await friend.get(paths.account)).submit(paths.acceptInvitation)
  assert.equal(accepted.location, dashboardOf(other.account))
  const audit = await site.store.audit.list(other.account, {
    offset: 0,
    limit: 9,
    since: null,
    before: null,
    descending: true,
  })
  assert.deepEqual(
    [(await site.store.members.get(other.account, other.id))!.record.status, audit.items[0]!.action],
    ['accepted', 'accept'],
  )
  const stale = await friend.post(paths.declineInvitation, {
    membership: other.id,
    form_token: formToken(friend.cookies.get('gatehouse')!, paths.declineInvitation),
  })
  assert.equal(stale.location, paths.account)
  assert.ok(await site.store.members.get(other.account, other.id))
})

test('where browsers have no passkeys, the profile says why, and no page asks for one', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  const page = await visitor.get(paths.account)
  assert.match(page.text, /this page was opened at an address of numbers/)
  assert.equal((await visitor.get(paths.passkeys)).location, paths.account)
  assert.doesNotMatch((await site.visitor().get(paths.signIn)).body, /<script|data-ceremony/)
  const named = await Site.open(t)
  const via = named.origin
  named.origin = 'http://gate.example'
  const { value } = await named.people.sessions.begin(
    await named.settle(),
    { method: 'password', secondFactor: false, at: named.clock.now() },
    { address: '192.0.2.7', userAgent: null, ray: '0123456789abcdef' },
  )
  const elsewhere = new Visitor(named.origin, via)
  elsewhere.cookies.set('gatehouse', value)
  assert.match((await elsewhere.get(paths.account)).text, /this page was opened over plain HTTP/)
})

test('a passkey is added and removed without a browser of ours, and only in a fresh session', async t => {
  const site = await Site.open(t)
  const via = site.origin
  site.origin = via.replace('127.0.0.1', 'localhost')
  const user = await site.settle()
  const visitor = new Visitor(site.origin, via)
  await (await visitor.get(paths.signIn)).submit(paths.signIn, { email: user.email, password })
  const key = new SoftAuthenticator(site.origin, user.id)
  const optionsOf = ({ body }: ShownPage) =>
    JSON.parse(unescaped(/data-options="([^"]*)"/.exec(body)![1]!)) as Record<string, unknown>
  const page = await visitor.get(paths.passkeys)
  const { challenge, rp, attestation, authenticatorSelection, excludeCredentials } = optionsOf(page)
  assert.deepEqual([rp, attestation], [{ id: 'localhost', name: 'Gatehouse' }, 'none'])
  assert.deepEqual(authenticatorSelection, {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: 'required',
  })
  assert.deepEqual(excludeCredentials, [])
  const empty = await page.submit(paths.passkeys, { name: 'Mine' })
  assert.deepEqual([empty.status, /could not be added/.test(empty.text)], [403, true])
  const response = key.create(challenge as string)
  const added = await page.submit(paths.passkeys, { name: 'Mine', response })
  assert.match(added.text, /Save your recovery codes/)
  const account = await visitor.get(paths.account)
  assert.match(account.text, /Mine Added .*, never used.*On, with your passkeys alone/)
  site.clock.advance(31 * 60_000)
  const stale = await account.submit(paths.passkeyRemove)
  assert.match(stale.location!, /^\/auth\/account\/confirm\?/)
  const confirm = await stale.follow()
  const { allowCredentials, userVerification, challenge: again } = optionsOf(confirm)
  assert.deepEqual(
    [allowCredentials, userVerification],
    [[{ type: 'public-key', id: key.id, transports: ['internal', 'hybrid'] }], 'required'],
  )
  const confirmed = await confirm.submit(paths.confirmByPasskey, { response: key.get(again as string) })
  assert.equal(confirmed.status, 303)
  const removed = await (await visitor.get(paths.account)).submit(paths.passkeyRemove)
  assert.match((await removed.follow()).text, /The passkey was removed/)
  assert.deepEqual(await site.store.credentials.list({ user: user.id }, 'sign_in', 10), [])
})
