import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { signInForms } from '../../src/pages/forms/form.ts'
import { formToken, newSecret } from '../../src/pages/forms/csrf.ts'
import { consentPath, paths } from '../../src/pages/parts/paths.ts'
import { StoreBusy, StoreUnreachable, StoreUntouched } from '../../src/store/contract/store.ts'
import { anyCharacter } from '../help/any-text.ts'
import { thorough } from '../help/thorough.ts'
import { Site, type Visitor } from './site.ts'
import { password } from '../people/settlement.ts'

test('a page is served with its policy and a secret of the visitor, and is kept nowhere', async t => {
  const site = await Site.open(t)
  const page = await site.visitor().get(paths.signIn)
  assert.equal(page.status, 200)
  assert.match(
    page.headers.get('content-security-policy')!,
    /script-src 'none'.*form-action 'self'; frame-ancestors 'none'/,
  )
  assert.equal(page.headers.get('cache-control'), 'no-store')
  assert.match(
    page.headers.get('set-cookie')!,
    /^gatehouse-visit=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/,
  )
})

test('HEAD has the head of GET, other methods what is allowed', async t => {
  const site = await Site.open(t)
  const visitor = site.visitor()
  const head = await visitor.send(paths.signIn, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body], [200, ''])
  for (const [method, path, allowed] of [
    ['DELETE', paths.signIn, 'GET, HEAD, POST'],
    ['POST', paths.signedOut, 'GET, HEAD'],
    ['PUT', consentPath('a'), ''],
  ] as const) {
    const { status, headers } = await visitor.send(path, { method })
    assert.deepEqual([status, headers.get('allow')], [405, allowed])
  }
  assert.equal((await visitor.get('/auth/nothing')).status, 404)
})

test('the page says what the store did: whether it is unreachable, full, busy, or did not confirm', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  for (const [failure, sentence] of [
    [new StoreUnreachable(), /cannot reach its store/],
    [new StoreUntouched({ code: 'SQLITE_FULL' }), /takes no changes, for example because its disk is full/],
    [
      new StoreUnreachable({ code: 'UNCONFIRMED' }),
      /did not confirm this, so it may or may not have been done/,
    ],
    [new StoreBusy(), /is busy, so this was not done/],
  ] as const) {
    const find = t.mock.method(site.people.sessions, 'find', () => Promise.reject(failure))
    const page = await visitor.get(paths.account)
    assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '5'])
    assert.match(page.text, sentence)
    assert.equal(page.text.includes('cannot reach'), failure.fault === 'unreachable')
    find.mock.restore()
  }
})

test('people who come by another name of the host are sent to the one that has the cookies', async t => {
  const site = await Site.open(t)
  const path = `${paths.signIn}?next=%2Fauth%2Faccount`
  const { status, headers } = await ask(site.origin, path, { host: 'localhost:1' })
  assert.deepEqual([status, headers.location], [303, site.origin + path])
  assert.equal((await ask(site.origin, paths.signIn, { host: 'evil.example' }, 'POST')).status, 403)
})

test('a form is refused unless a page of ours made it for this browser', async t => {
  const site = await Site.open(t)
  const { email } = await site.settle()
  const visitor = site.visitor()
  const page = await visitor.get(paths.signIn)
  const fields = { ...page.hidden(paths.signIn), email, password }
  const ofOther = formToken(visitor.cookies.get('gatehouse-visit')!, paths.signOut)
  const refused: readonly (readonly [string, Record<string, string>, Record<string, string>])[] = [
    ['of another site', fields, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['of a sibling', fields, { 'sec-fetch-site': 'same-site' }],
    ['of nowhere', fields, { origin: 'null' }],
    ['without a token', { email, password }, {}],
    ['with the token of another form', { ...fields, form_token: ofOther }, {}],
  ]
  for (const [name, form, headers] of refused)
    assert.equal((await visitor.post(paths.signIn, form, headers)).status, 403, name)
  const other = site.visitor()
  await other.get(paths.signIn)
  assert.equal((await other.post(paths.signIn, fields)).status, 403)
  assert.equal((await site.visitor().post(paths.signIn, fields)).status, 403)
  assert.equal((await visitor.post(paths.signIn, fields)).status, 303)
})

test('a form of a page that is out of date is shown again, with what was typed and without passwords', async t => {
  const site = await Site.open(t, { config: { signUp: 'open' } })
  const { email } = await site.settle()
  const why = /Nothing was done yet: you signed in or out since this page was loaded/
  const visitor = site.visitor()
  const stale = (await visitor.get(paths.signIn)).hidden(paths.signIn)
  visitor.cookies.clear()
  const again = await visitor.post(paths.signIn, { ...stale, email, password, next: '/auth/account?x' })
  assert.equal(again.status, 403)
  assert.match(again.text, why)
  assert.match(again.body, new RegExp(`name="email"[^>]* value="${email}"`))
  assert.equal(again.body.includes(password), false)
  assert.deepEqual([...visitor.cookies.keys()], ['gatehouse-visit'])
  const sent = await again.submit(paths.signIn, { email, password })
  assert.deepEqual([sent.status, sent.location], [303, '/auth/account?x'])

  const newcomer = site.visitor()
  const old = (await newcomer.get(paths.signUp)).hidden(paths.signUp)
  newcomer.cookies.clear()
  const typed = { email: 'new@example.com', first_name: 'Ada <b>', last_name: 'Lovelace', password }
  const shown = await newcomer.post(paths.signUp, { ...old, ...typed })
  assert.match(shown.text, why)
  for (const value of ['new@example.com', 'Lovelace'])
    assert.ok(shown.body.includes(`value="${value}"`), value)
  assert.equal(shown.body.includes(password) || shown.body.includes('<b>'), false)
  assert.equal(await site.store.users.findByEmail('new@example.com'), null)
  assert.match((await shown.submit(paths.signUp, typed)).text, /Now sign in/)
})

test('whatever form is out of date, nothing is done, and the way on is shown', async t => {
  const site = await Site.open(t)
  const user = await site.settle()
  const visitor = await site.signedIn(user)
  const changed = { password, new_password: 'another horse battery' }
  for (const path of [paths.password, paths.endAllSessions, paths.endSession, paths.signOut, paths.twoStep]) {
    const page = await visitor.post(path, { ...changed, form_token: 'x' })
    assert.deepEqual([page.status, /Nothing was done/.test(page.text)], [403, true], path)
    assert.equal(page.body.includes(changed.new_password), false)
  }
  assert.equal((await visitor.get(paths.account)).status, 200)
  const link = await site.setUpLink(await site.found())
  const newcomer = site.visitor()
  const { token } = (await newcomer.get(link)).hidden(paths.setUp)
  newcomer.cookies.clear()
  const typed = {
    email: 'first@example.com',
    first_name: 'Ada',
    last_name: '',
    password: 'correct horse battery 2',
  }
  const again = await newcomer.post(paths.setUp, { token: token!, ...typed })
  assert.ok(again.status === 403 && again.body.includes('value="first@example.com"'))
  assert.equal((await again.submit(paths.setUp, typed)).status, 303)
})

test('a body that is no form, or is too large, is refused', async t => {
  const site = await Site.open(t)
  const visitor = site.visitor()
  await visitor.get(paths.signIn)
  for (const [body, type, status] of [
    ['a=1&a=2', 'application/x-www-form-urlencoded', 400],
    ['{}', 'application/json', 400],
    ['a=1', 'text/plain', 400],
    [`a=${'b'.repeat(signInForms.maxBytes)}`, 'application/x-www-form-urlencoded', 413],
  ] as const)
    assert.equal((await visitor.post(paths.signIn, body, { 'content-type': type })).status, status, type)
})

test('over https the cookies are those of this host alone', async t => {
  const site = await Site.open(t)
  const inner = site.origin
  site.origin = 'https://id.example'
  const { headers } = await ask(inner, paths.signIn, { host: 'id.example' })
  assert.match(
    String(headers['set-cookie']),
    /^__Host-gatehouse-visit=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
})

test('a session that has ended leaves no cookie behind', async t => {
  const site = await Site.open(t)
  const visitor = await site.signedIn(await site.settle())
  await site.people.sessions.end(visitor.cookies.get('gatehouse')!)
  const page = await visitor.get(paths.account)
  assert.equal(page.location, `${paths.signIn}?next=%2Fauth%2Faccount`)
  assert.equal(visitor.cookies.has('gatehouse'), false)
})

const names =
  'next token email password ticket code recovery_code first_name session grant fresh login_hint done state account decision'

test('whatever is sent, no page breaks, and none shows markup of others', async t => {
  const site = await Site.open(t, { config: { signUp: 'open' } })
  const visitors = [site.visitor(), await site.signedIn(await site.settle())]
  const known = [
    '"><script>alert(1)</script>',
    "'><img src=x onerror=alert(1)>",
    '//evil.example',
    '/\\evil.example',
    '\u202e',
    '%00',
    newSecret(),
  ]
  const hostile = fc.oneof(fc.constantFrom(...known), fc.string({ unit: anyCharacter }))
  const fields = fc.dictionary(fc.constantFrom(...names.split(' ')), hostile)
  const path = fc.constantFrom(...Object.values(paths), consentPath('abcdefghijklmnopqrstu'))
  await fc.assert(
    fc.asyncProperty(path, fields, fc.nat(1), fc.boolean(), async (path, fields, who, isForm) => {
      const endsSession = path === paths.endAllSessions || path === paths.signOut
      const visitor = visitors[who]!
      const page =
        isForm && !endsSession
          ? await visitor.post(path, { ...fields, form_token: tokenFor(visitor, path) })
          : await visitor.get(`${path}?${new URLSearchParams(fields)}`)
      assert.ok(page.status < 500, `${page.status} ${path} ${page.text}`)
      assert.doesNotMatch(page.body, /<script|<img/)
      if (page.location !== null) assert.match(page.location, /^\/(auth|oauth2)\/|^\/dashboard\b|^\/$/)
    }),
    { numRuns: thorough(1000, 200) },
  )
})

function tokenFor({ cookies }: Visitor, path: string): string {
  return formToken(cookies.get('gatehouse') ?? cookies.get('gatehouse-visit') ?? newSecret(), path)
}

/** Sends a request with a Host of its own. */
function ask(
  origin: string,
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ readonly status: number; readonly headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, origin), { method, headers }, response => {
      response.resume()
      resolve({ status: response.statusCode!, headers: response.headers })
    })
    sent.on('error', reject).end()
  })
}
