import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { newSecret } from '../../src/pages/forms/csrf.ts'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import { Visitor } from '../sign-in/site.ts'
import { openDashboard, password, type RoleName } from './site.ts'

const minute = 60_000

test('a visitor without a session is sent to sign in, and returns to the page afterwards', async t => {
  const { base, origin } = await openDashboard(t)
  const stranger = new Visitor(origin)
  const page = await stranger.get(`${base}/tokens?page=2`)
  assert.equal(page.status, 303)
  assert.equal(page.location, `/auth/sign-in?${new URLSearchParams({ next: `${base}/tokens?page=2` })}`)
  const form = await stranger.post(`${base}/tokens/new`, { name: 'x' })
  assert.equal(form.location, `/auth/sign-in?${new URLSearchParams({ next: `${base}/tokens/new` })}`)
  assert.match((await page.follow()).text, /Sign in/)
})

test('the way in leads to the first account, and there to the first page that its member may see', async t => {
  const { base, get } = await openDashboard(t)
  const root = await get('/dashboard')
  assert.equal(root.location, base)
  const home = await root.follow()
  assert.ok(home.status === 200 || home.location?.startsWith(`${base}/`), `${home.status}`)
})

/** Opens the dashboard for a person who is a member of two accounts, in the second by a role of its own. */
async function openTwo(t: TestContext, role: RoleName = 'Super Administrator') {
  const site = await openDashboard(t)
  const other = await site.addAccount('Shop')
  await site.join(site.user, role, other)
  return { ...site, other }
}

test('a person switches between their accounts, and stays on the same kind of page', async t => {
  const { get, base, other, account, kept, addAccount } = await openTwo(t)
  await addAccount('Not theirs')
  const there = `/dashboard/${other}`
  const [first] = (await kept.tokens.list(account, { offset: 0, limit: 1 })).items
  for (const [path, like] of [
    ['', ''],
    ['/tokens', '/tokens'],
    ['/tokens?page=2', '/tokens'],
    ['/tokens/new', '/tokens/new'],
    [`/tokens/${first!.id}`, '/tokens'],
    ['/apps', '/apps'],
    ['/gateways/default/logs', '/gateways'],
    ['/gateways/default/settings', '/gateways'],
    ['/errors/codes/502', '/errors/codes'],
  ] as const) {
    const page = await get(base + path)
    assert.equal(page.status, 200, path)
    const links = [...page.body.matchAll(/<ul aria-label="Other accounts">(.*?)<\/ul>/g)].map(
      ([, list]) => list,
    )
    assert.deepEqual(links, [`<li><a href="${there}${like}"><bdi>Shop</bdi></a></li>`], path)
    assert.equal((await get(there + like)).status, 200, like)
  }
})

test('in an account where they may do less, a switch leads to what they may see', async t => {
  const { get, base, other } = await openTwo(t, 'OAuth Client Write')
  for (const [path, like] of [
    ['/oauth-clients/new', '/oauth-clients/new'],
    ['/tokens', ''],
    ['/members/two-factor', ''],
  ] as const) {
    const link = new RegExp(`<a href="/dashboard/${other}${like}"><bdi>Shop`)
    assert.match((await get(base + path)).body, link, path)
  }
})

test('the way in leads to the account that was seen last, as long as that is open to them', async t => {
  const { get, visitor, base, other, kept, user, addPerson, people } = await openTwo(t)
  const wayIn = async () => (await get('/dashboard')).location
  assert.equal(await wayIn(), base)
  const there = `/dashboard/${other}`
  assert.equal((await get(`${there}/tokens`)).status, 200)
  assert.equal(await wayIn(), there)
  // Pages that are not there move nobody, and neither do forms nor files.
  await get(`${base}/nothing`)
  await get(`${base}/audit/export`)
  await visitor.post(`${base}/tokens/new`, {})
  assert.equal(await wayIn(), there)
  // What happens to the session meanwhile is kept.
  const value = visitor.cookies.get('gatehouse')!
  const { session } = (await people.sessions.find(value))!
  assert.equal(session.account, other)
  const renewed = await people.sessions.renew(session, session.usedAt)
  visitor.cookies.set('gatehouse', renewed!.value)
  assert.equal(await wayIn(), there)
  await kept.accounts.update(other, { enforceTwoFactor: true })
  assert.equal(await wayIn(), base)
  await kept.accounts.update(other, { enforceTwoFactor: false })
  assert.equal(await wayIn(), there)
  const member = (await kept.members.find(other, user.id))!.record
  await addPerson('Super Administrator', {}, other)
  assert.ok(await kept.members.remove(other, member.id))
  assert.equal(await wayIn(), base)
  assert.equal((await get(there)).status, 404)
})

test('a page of another account is shown although that cannot be noted', async t => {
  const { get, other, people, base } = await openTwo(t)
  const { sessions } = people
  let noted = 0
  sessions.noteAccount = async () => {
    noted++
    throw new StoreUnreachable()
  }
  assert.equal((await get(`/dashboard/${other}/tokens`)).status, 200)
  assert.equal(noted, 1)
  assert.equal((await get('/dashboard')).location, base)
})

test('a store that is full or did not confirm is not called unreachable', async t => {
  const { get, base, people } = await openDashboard(t)
  for (const [code, sentence] of [
    ['SQLITE_FULL', /takes no changes, for example because its disk is full/],
    ['UNCONFIRMED', /did not confirm this, so it may or may not have been done/],
    ['ECONNREFUSED', /cannot reach its store/],
  ] as const) {
    const failure = new StoreUnreachable({ code })
    const find = t.mock.method(people.sessions, 'find', () => Promise.reject(failure))
    const { status, text } = await get(base)
    assert.deepEqual([status, text.includes('cannot reach')], [503, failure.fault === 'unreachable'])
    assert.match(text, sentence)
    find.mock.restore()
  }
})

test('a user without an account is told what to do', async t => {
  const { addPerson, signIn } = await openDashboard(t)
  const visitor = await signIn(await addPerson(null))
  assert.match((await visitor.get('/dashboard')).text, /You are in no account yet/)
})

test('an account that is not theirs is not there for a person, and no page is elsewhere', async t => {
  const { get, base, addAccount } = await openDashboard(t)
  const other = await addAccount('other')
  for (const path of [
    `/dashboard/${other}/tokens`,
    `/dashboard/${other}`,
    `${base}/nothing`,
    `${base}/tokens/`,
    `${base}/tokens/%zz`,
    '/dashboard/',
    '/dashboard/assets/dashboard.css',
  ]) {
    const page = await get(path)
    assert.equal(page.status, 404, path)
    assert.match(page.text, /There is no page at this address/, path)
  }
})

test('an account that requires a second factor is shut for who lacks one, and the rest is not', async t => {
  const { get, base, kept, account, user } = await openDashboard(t)
  const now = await kept.accounts.get(account)
  await kept.accounts.update(account, { name: now!.name, enforceTwoFactor: true })
  const shut = await get(`${base}/tokens`)
  assert.equal(shut.status, 403)
  assert.match(shut.text, /requires two-step sign-in/)
  assert.ok(user.totp === null)
})

test('a role sees its own sections and pages, and no other', async t => {
  const { addPerson, signIn, base } = await openDashboard(t)
  const visitor = await signIn(await addPerson('OAuth Client Write'))
  const page = await visitor.get(`${base}/tokens`)
  assert.equal(page.status, 404)
  assert.doesNotMatch(page.body, /href="[^"]*\/tokens"/)
})

test('a page takes the methods that it says, and others never reach it', async t => {
  const { base, visitor } = await openDashboard(t)
  const taken = await visitor.post(`${base}/tokens`, {})
  assert.deepEqual([taken.status, taken.headers.get('allow')], [405, 'GET, HEAD'])
  const put = await visitor.send(`${base}/tokens/new`, { method: 'PUT' })
  assert.deepEqual([put.status, put.headers.get('allow')], [405, 'GET, HEAD, POST'])
  const head = await visitor.send(`${base}/tokens`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body], [200, ''])
})

test('only a form of our own page, made for this browser and this path, does anything', async t => {
  const { base, visitor, get, ask } = await openDashboard(t)
  const path = `${base}/tokens/new`
  const page = await get(path)
  const fields = page.hidden(path)
  const cases = [
    [{ ...fields, form_token: newSecret() }, {}, 403],
    [{ name: 'x' }, {}, 403],
    [fields, { origin: 'https://evil.example' }, 403],
    [fields, { 'sec-fetch-site': 'cross-site' }, 403],
    [fields, { 'sec-fetch-site': 'same-site' }, 403],
    [fields, { 'content-type': 'text/plain' }, 400],
    [{ ...fields, name: 'x'.repeat(300_000) }, {}, 413],
    [{ ...fields, name: '\u0000' }, {}, 400],
  ] as const
  for (const [sent, headers, status] of cases) {
    const refused = await visitor.post(path, sent, headers)
    assert.equal(refused.status, status, JSON.stringify([headers, status]))
  }
  assert.equal((await visitor.post(`${base}/tokens/${'0'.repeat(32)}/revoke`, fields)).status, 403)
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
})

test('a visitor on another host name is redirected to the one that the cookies are for', async t => {
  const { base, origin, visitor } = await openDashboard(t)
  const { port } = new URL(origin)
  const other = new Visitor(`http://localhost:${port}`)
  assert.equal((await other.get(`${base}/tokens?a=1`)).location, `${origin}${base}/tokens?a=1`)
  for (const [name, value] of visitor.cookies) other.cookies.set(name, value)
  assert.equal((await other.post(`${base}/tokens/new`, { name: 'x' })).status, 403)
})

test('every page has a strict policy and stays out of caches', async t => {
  const { base, get } = await openDashboard(t)
  const { headers } = await get(`${base}/tokens`)
  assert.equal(headers.get('cache-control'), 'no-store')
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(
    headers.get('content-security-policy'),
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  )
})

test('risky actions ask for the password after half an hour, and then continue with the submitted form', async t => {
  const { base, get, clock, visitor, ask } = await openDashboard(t)
  const path = `${base}/tokens/new`
  const page = await get(path)
  clock.advance(31 * minute)
  const fields = { name: 'late', 'permissions.a27621d5ea9af545e8a8cb080c699127': 'on' }
  const asked = await page.submit(path, fields)
  assert.equal(asked.status, 403)
  assert.match(asked.text, /Confirm that it is you/)
  const wrong = await asked.submit(path, { 'proof.password': 'not this one' })
  assert.equal(wrong.status, 403)
  assert.match(wrong.text, /The password is wrong/)
  assert.ok(!wrong.body.includes('not this one'))
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
  const before = visitor.cookies.get('gatehouse')
  const made = await wrong.submit(path, { 'proof.password': password })
  assert.equal(made.status, 200, made.text)
  assert.match(made.text, /Token created/)
  assert.notEqual(visitor.cookies.get('gatehouse'), before)
  assert.equal((await get(`${base}/tokens`)).status, 200)
})

test('a password that comes with a form is in no page after it, whatever becomes of the form', async t => {
  const { base, get, clock } = await openDashboard(t)
  const path = `${base}/oauth-clients/new`
  const details = { client_name: 'Shop', 'redirect_uris.0': 'https://shop.example/callback' }
  const scopes = await (await get(path)).submit(path, { ...details, kind: 'server' })
  clock.advance(31 * minute)
  const asked = await scopes.submit(`${path}/scopes`)
  const refused = await asked.submit(`${path}/scopes`, { 'proof.password': password })
  assert.equal(refused.status, 422, refused.text)
  assert.ok(refused.body.includes('value="Shop"'))
  assert.ok(!refused.body.includes(password))
})

test('a form of a user who is signed out or removed while it is sent has no effect', async t => {
  const { base, addPerson, signIn, people, kept, account, ask, clock } = await openDashboard(t)
  const path = `${base}/tokens/new`
  const fields = { name: 'late', 'permissions.a27621d5ea9af545e8a8cb080c699127': 'on' }
  const sendLate = async (meanwhile: (user: string) => Promise<unknown>, isLate = false) => {
    const user = await addPerson('Administrator')
    const visitor = await signIn(user)
    const page = await visitor.get(path)
    if (isLate) clock.advance(31 * minute)
    const proof = isLate && { 'proof.password': password }
    return visitor.postLate(path, { ...page.hidden(path), ...fields, ...proof }, () => meanwhile(user.id))
  }
  const signInPath = `/auth/sign-in?${new URLSearchParams({ next: path })}`
  assert.deepEqual(await sendLate(user => people.sessions.endEverything(user)), [303, signInPath])
  const remove = async (user: string) => {
    const { record } = (await kept.members.find(account, user))!
    assert.ok(await kept.members.remove(account, record.id))
  }
  assert.deepEqual(await sendLate(remove), [404, undefined])
  assert.deepEqual(await sendLate(remove, true), [404, undefined])
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
})

test('a user of a sign-in provider reauthenticates there, and the submitted form is kept until then', async t => {
  const { base, addPerson, signIn, clock, ask } = await openDashboard(t)
  const identity = { issuer: 'https://id.example', subject: '1' }
  const user = await addPerson('Administrator', { password: null, identity })
  const visitor = await signIn(user)
  const path = `${base}/tokens/new`
  const page = await visitor.get(path)
  clock.advance(31 * minute)
  const fields = { name: 'late', 'permissions.a27621d5ea9af545e8a8cb080c699127': 'on' }
  const held = await page.submit(path, fields)
  assert.equal(held.status, 403)
  assert.match(held.text, /Sign in again in a new tab/)
  assert.equal((await held.submit(path)).status, 403)
  visitor.cookies.set('gatehouse', (await signIn(user)).cookies.get('gatehouse')!)
  const again = await held.submit(path)
  assert.match(again.text, /Nothing was done yet/)
  assert.match((await again.submit(path)).text, /Token created/)
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 2)
})

test('a form of another session is held until the person of this one sends it', async t => {
  const { base, get, signIn, addPerson, visitor, ask } = await openDashboard(t)
  const path = `${base}/tokens/new`
  const page = await get(path)
  const other = await addPerson('Administrator')
  visitor.cookies.set('gatehouse', (await signIn(other)).cookies.get('gatehouse')!)
  const held = await page.submit(path, {
    name: '"><b>',
    'permissions.a27621d5ea9af545e8a8cb080c699127': 'on',
  })
  assert.equal(held.status, 403)
  assert.ok(held.text.includes(`You are signed in as ${other.email} now`))
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
  assert.match((await held.submit(path)).text, /Token created/)
  assert.equal((await ask('GET', '/tokens')).json.result[1].name, '"><b>')
})

test('styles and scripts are kept for good at an address that changes with them, and need nobody to have signed in', async t => {
  const { base, get, origin } = await openDashboard(t)
  const { body } = await get(`${base}/tokens`)
  const found = [...body.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  assert.ok(found.length >= 3)
  for (const path of found) {
    const response = await fetch(origin + path)
    assert.equal(response.status, 200, path)
    assert.match(response.headers.get('cache-control')!, /immutable/)
    assert.match(response.headers.get('content-type')!, /^text\/(css|javascript); charset=utf-8$/)
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  }
  const total = await Promise.all(found.map(async path => (await (await fetch(origin + path)).text()).length))
  assert.ok(total.reduce((a, b) => a + b, body.length) < 60_000)
})
