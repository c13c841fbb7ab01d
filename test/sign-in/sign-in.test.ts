import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { beginEnrolment, confirmEnrolment } from '../../src/people/second-factor/second-factor.ts'
import { formToken } from '../../src/pages/forms/csrf.ts'
import { invitationPath, leadingOn, paths } from '../../src/pages/parts/paths.ts'
import { reissueInvitation } from '../../src/people/links/invitations.ts'
import { everybody } from '../../src/store/records/people.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { codeAt } from '../people/authenticator.ts'
import { RunningProvider, walk } from '../people/openid/openid-provider.ts'
import { type ShownPage, Site, unescaped } from './site.ts'
import { password } from '../people/settlement.ts'

test('signing in leads to the requested page, with a new session cookie', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const visitor = site.visitor()
  const page = await visitor.get(leadingOn(paths.signIn, '/oauth2/consent/abc'))
  const before = visitor.cookies.get('gatehouse-visit')
  const done = await page.submit(paths.signIn, { email: ` ${email.toUpperCase()} `, password })
  assert.deepEqual([done.status, done.location], [303, '/oauth2/consent/abc'])
  assert.deepEqual([...visitor.cookies.keys()], ['gatehouse'])
  assert.notEqual(visitor.cookies.get('gatehouse'), before)
  const old = visitor.cookies.get('gatehouse')!
  const again = await (await visitor.get(`${paths.signIn}?fresh=1`)).submit(paths.signIn, { email, password })
  assert.equal(again.location, paths.dashboard)
  assert.equal(await site.people.sessions.find(old), null)
})

test('before the first user exists, the page says how to create one', async t => {
  const site = await Site.open(t)
  const told = /Nobody can sign in yet\. .* gatehouse user invite prints another/
  assert.match((await site.visitor().get(paths.signIn)).text, told)
  await site.settle()
  assert.doesNotMatch((await site.visitor().get(paths.signIn)).text, told)
})

test('a session that somebody else has planted is not the one that signing in begins', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const attacker = await site.signedIn(await site.settle())
  for (const planted of ['x'.repeat(43), attacker.cookies.get('gatehouse')!]) {
    const victim = site.visitor()
    victim.cookies.set('gatehouse', planted)
    const page = await victim.get(`${paths.signIn}?fresh=1`)
    assert.equal((await page.submit(paths.signIn, { email, password })).status, 303)
    assert.notEqual(victim.cookies.get('gatehouse'), planted)
    assert.notEqual((await site.people.sessions.find(planted))?.user.email, email)
  }
})

test('signing in never redirects to another site', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const elsewhere = [
    ...['//evil.example/', 'https://evil.example/', '/\\evil.example', 'javascript:alert(1)'],
    ...['///evil.example', '/\t/evil.example', '\t//evil.example', '\\/evil.example', 'https:evil.example'],
    ...['/dashboard/..//evil.example', '/auth/%2e%2e//evil.example', '/.//evil.example', 'data:text/html,x'],
    ...['//evil.example@127.0.0.1/', '/\n/evil.example', ' //evil.example', 'http://127.0.0.1@evil.example/'],
  ]
  for (const next of elsewhere) {
    const page = await site.visitor().get(leadingOn(paths.signIn, next))
    assert.equal(page.hidden(paths.signIn).next, paths.dashboard)
    const sent = await page.submit(paths.signIn, { email, password, next })
    // No field of one line has another.
    if (next.includes('\n')) assert.equal(sent.status, 400, JSON.stringify(next))
    else assert.equal(sent.location, paths.dashboard, next)
  }
})

test('a wrong password is refused in the words of a user that is not there, and the address is kept', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const refusals = await Promise.all(
    [email, 'nobody@example.com'].map(async email => {
      const page = await site.visitor().get(paths.signIn)
      return { email, refused: await page.submit(paths.signIn, { email, password: 'not the password' }) }
    }),
  )
  const [known, unknown] = refusals.map(({ email, refused }) => plain(refused).replaceAll(email, 'EMAIL'))
  assert.equal(known, unknown)
  assert.match(known!, /^403 .*Email or password is wrong\..*value="EMAIL"/s)
  assert.doesNotMatch(known!, /not the password/)
})

test('guesses are throttled, in the same words for who is there and who is not', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const throttled: string[] = []
  for (const who of [email, 'nobody@example.com']) {
    const page = await site.visitor().get(paths.signIn)
    for (let i = 0; i < 5; i++)
      assert.equal((await page.submit(paths.signIn, { email: who, password: 'a wrong one' })).status, 403)
    const refused = await page.submit(paths.signIn, { email: who, password })
    assert.ok(Number(refused.headers.get('retry-after')) > 500)
    throttled.push(
      plain(refused)
        .replaceAll(who, 'EMAIL')
        .replace(/\d+ minutes/, 'N minutes'),
    )
  }
  assert.equal(throttled[0], throttled[1])
  assert.match(throttled[0]!, /^429 .*Too many attempts\. Try again in N minutes\./s)
})

test('a second step asks for a code, and a recovery code does as well', async t => {
  const site = await Site.open(t)
  const { uri, recoveryCodes, email } = await withApp(site)
  const enter = async () => {
    const page = await site.visitor().get(leadingOn(paths.signIn, '/oauth2/consent/abc'))
    return page.submit(paths.signIn, { email, password })
  }
  const asked = await enter()
  assert.deepEqual([asked.status, asked.hidden(paths.code).next], [200, '/oauth2/consent/abc'])
  const wrong = await asked.submit(paths.code, { code: '000000' })
  assert.match(wrong.text, /This code is wrong, or was used before\./)
  site.clock.advance(30_000)
  const right = await wrong.submit(paths.code, { code: codeAt(uri, site.clock.now()) })
  assert.deepEqual([right.status, right.location], [303, '/oauth2/consent/abc'])
  const recovered = await (await enter()).submit(paths.code, { recovery_code: recoveryCodes[0]! }, 1)
  assert.equal(recovered.status, 303)
  const reused = await (await enter()).submit(paths.code, { recovery_code: recoveryCodes[0]! }, 1)
  assert.deepEqual([reused.status, /<details open>/.test(reused.body)], [403, true])
})

test('a user whose authenticator secret is lost with the server key is told so, is not throttled, and can use a recovery code', async t => {
  const site = await Site.open(t)
  const { uri, recoveryCodes, email } = await withApp(site, new SecretKeys(randomBytes(32)))
  const entered = await site.visitor().get(paths.signIn)
  let page = await entered.submit(paths.signIn, { email, password })
  for (let i = 0; i < 8; i++) page = await page.submit(paths.code, { code: codeAt(uri, site.clock.now()) })
  assert.equal(page.status, 503)
  assert.match(
    page.text,
    /Codes of your app cannot be checked just now: the server has lost the key for them\./,
  )
  assert.match(page.body, /<details open>/)
  const wrong = await page.submit(paths.code, { recovery_code: recoveryCodes[0]!.replace(/.$/, '8') }, 1)
  assert.match(wrong.text, /This code is wrong/)
  assert.equal((await wrong.submit(paths.code, { recovery_code: recoveryCodes[0]! }, 1)).status, 303)
})

test('a ticket that is too old leads back to the beginning', async t => {
  const site = await Site.open(t)
  const { uri, email } = await withApp(site)
  const asked = await (await site.visitor().get(paths.signIn)).submit(paths.signIn, { email, password })
  site.clock.advance(601_000)
  const late = await asked.submit(paths.code, { code: codeAt(uri, site.clock.now()) })
  assert.match(late.text, /That took too long.*Sign in again\./)
  assert.ok(late.hidden(paths.signIn))
})

test('signing out ends the session, and asks before a link alone does so', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  const session = visitor.cookies.get('gatehouse')!
  const page = await visitor.get(leadingOn(paths.signOut, '/dashboard/a'))
  assert.match(page.body, /<a class="button plain" href="\/dashboard\/a">Stay/)
  assert.ok(await site.people.sessions.find(session))
  const out = await page.submit(paths.signOut)
  assert.equal(out.location, leadingOn(paths.signedOut, '/dashboard/a'))
  assert.deepEqual(
    [await site.people.sessions.find(session), visitor.cookies.has('gatehouse')],
    [null, false],
  )
  const end = await out.follow()
  assert.match(end.text, /You are signed out/)
  const back = unescaped(/href="([^"]*)">Sign in again/.exec(end.body)![1]!)
  assert.equal(back, leadingOn(paths.signIn, '/dashboard/a'))
  const elsewhere = await site.visitor().get(leadingOn(paths.signedOut, '//evil.example/'))
  assert.ok(unescaped(elsewhere.body).includes(`href="${leadingOn(paths.signIn, paths.dashboard)}"`))
})

test('before what is dangerous, who signed in long ago proves again who they are', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  site.clock.advance(31 * 60_000)
  const account = await visitor.get(paths.account)
  const sent = await account.submit(paths.twoStep)
  assert.equal(sent.location, leadingOn(paths.confirm, paths.account))
  const before = visitor.cookies.get('gatehouse')
  const wrong = await (await sent.follow()).submit(paths.confirm, { password: 'a wrong one' })
  assert.deepEqual([wrong.status, /The password is wrong\./.test(wrong.text)], [403, true])
  const confirmed = await wrong.submit(paths.confirm, { password })
  assert.equal(confirmed.location, paths.account)
  assert.notEqual(visitor.cookies.get('gatehouse'), before)
  assert.equal((await (await confirmed.follow()).submit(paths.twoStep)).location, paths.twoStep)
})

test('without a provider nobody is sent to one', async t => {
  const site = await Site.open(t)
  for (const path of [paths.provider, `${paths.callback}?code=1&state=2`])
    assert.equal((await site.visitor().get(path)).status, 404)
})

/** Opens a site with an OpenID provider that knows Grace, who is a member; `arrive` goes there from a page, and tells where it leads back to. */
async function besideProvider(t: TestContext) {
  let running: RunningProvider | undefined
  let to = ''
  const site = await Site.open(t, {
    provider: async origin => {
      to = origin + paths.callback
      running = await RunningProvider.start(t, { to })
      await running.knows({ grace, eve: {} })
      return running.settings
    },
  })
  const user = await site.settle({ email: grace.email, password: null })
  await site.join(user, await site.found())
  const arrive = async (
    subject: string,
    visitor = site.visitor(),
    from = leadingOn(paths.signIn, '/oauth2/consent/abc'),
  ) => {
    const page = await visitor.get(from)
    const [, link] = /href="(\/auth\/sign-in\/openid[^"]*)"/.exec(page.body)!
    const sent = await visitor.get(unescaped(link!))
    const url = new URL(sent.location!)
    url.searchParams.set('login_hint', subject)
    const back = await walk(url.href, to)
    return { visitor, path: back.pathname + back.search }
  }
  return { site, user, provider: running!, arrive }
}

const grace = { email: 'grace@example.com', email_verified: true }

test('signing in at the provider leads back to the requested page', async t => {
  const { site, provider, arrive } = await besideProvider(t)
  const { visitor, path } = await arrive('grace')
  const stolen = await site.visitor().get(path)
  assert.deepEqual([stolen.status, /Sign in again\./.test(stolen.text)], [403, true])
  const done = await visitor.get(path)
  assert.deepEqual([done.status, done.location], [303, '/oauth2/consent/abc'])
  assert.match(
    (await visitor.get(paths.account)).text,
    /grace@example\.com.*You sign in with your OpenID provider/,
  )
  assert.equal((await site.visitor().get(path)).status, 403)
  const eve = await arrive('eve')
  const refused = await eve.visitor.get(eve.path)
  assert.match(refused.text, /did not confirm an e-?mail address of yours/)
  await provider.kill()
})

test('a user without a verified address at the provider can sign in with the link of an invitation', async t => {
  const { site, arrive } = await besideProvider(t)
  const account = await site.found()
  const invited = await site.settle({ email: 'eve@work.example', password: null })
  const member = await site.join(invited, account, { status: 'pending' })
  const { value } = await reissueInvitation(site.store, member, Date.now())
  const eve = await arrive('eve', site.visitor(), invitationPath(value))
  const done = await eve.visitor.get(eve.path)
  assert.deepEqual([done.status, done.location], [303, invitationPath(value)])
  const page = await eve.visitor.get(invitationPath(value))
  assert.match(page.text, /eve@work\.example/)
  assert.doesNotMatch(page.body, /name="password"/)
  assert.deepEqual((await site.store.users.get(everybody, invited.id))!.record.emailVerifiedAt, null)
})

test('a sign-in that the provider has had for hours opens nothing dangerous; a fresh one does', async t => {
  const { provider, arrive } = await besideProvider(t)
  await provider.knows({ grace }, { grace: { ago: 36_000 } })
  const { visitor, path } = await arrive('grace')
  assert.equal((await visitor.get(path)).status, 303)
  // Their page has no such form; the deed itself is what must not be done.
  const begin = async () =>
    visitor.post(paths.twoStep, { form_token: formToken(visitor.cookies.get('gatehouse')!, paths.twoStep) })
  const stale = await begin()
  assert.equal(stale.location, leadingOn(paths.confirm, paths.account))
  for (const from of [stale.location!, leadingOn(paths.signIn, paths.account, { fresh: '1' })]) {
    const again = await arrive('grace', visitor, from)
    const refused = await visitor.get(again.path)
    assert.deepEqual(
      [refused.status, /did not show that you signed in there just now/.test(refused.text)],
      [403, true],
    )
    assert.match(refused.body, /href="\/auth\/sign-in\/openid[^"]*fresh=1"/)
    assert.equal((await begin()).location, stale.location)
  }
  await provider.knows({ grace })
  const fresh = await arrive('grace', visitor, leadingOn(paths.signIn, paths.account, { fresh: '1' }))
  assert.deepEqual(
    [(await visitor.get(fresh.path)).location, (await begin()).location],
    [paths.account, paths.twoStep],
  )
})

/** Writes status and page without what differs from one visitor to the next. */
function plain({ status, body }: ShownPage): string {
  return `${status} ${body.replace(/name="form_token" value="[^"]+"/g, '')}`
}

/** Keeps a user with a second factor. */
async function withApp(site: Site, keys = site.keys) {
  const user = await site.settle()
  const { user: begun, enrolment } = beginEnrolment(user, keys)!
  const code = codeAt(enrolment.uri, site.clock.now())
  const { user: after, recoveryCodes } = confirmEnrolment(begun, code, keys, site.clock.now())!
  const { version } = (await site.store.users.get(user.account, user.id))!
  await site.store.users.replace(after, version)
  return { uri: enrolment.uri, recoveryCodes, email: user.email }
}

test('each attempt to sign in is counted by its result', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const visitor = site.visitor()
  const page = await visitor.get(paths.signIn)
  await page.submit(paths.signIn, { email, password: 'wrong' })
  await page.submit(paths.signIn, { email: 'nobody@example.com', password })
  await page.submit(paths.signIn, { email, password })
  const setUp = await site.setUpLink(await site.found())
  const [newcomer, late] = [await site.visitor().get(setUp), await site.visitor().get(setUp)]
  const person = { email: 'first@example.com', first_name: '', last_name: '', password }
  await newcomer.submit(paths.setUp, { ...person, password: 'short' })
  await newcomer.submit(paths.setUp, person)
  await late.submit(paths.setUp, person)
  const { password: byPassword, link } = site.people.metrics.signIns
  assert.deepEqual([byPassword.refused.value, byPassword.signed_in.value], [2, 1])
  assert.deepEqual([link.refused.value, link.signed_in.value, link.expired.value], [1, 1, 1])
})
