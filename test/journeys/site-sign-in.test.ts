// People sign in for a site that knows nothing of it, and nobody else gets in.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { startGateway } from '../help/gateway.ts'
import { Jar, type Shown } from '../help/jar.ts'
import { startEcho } from '../help/echo-origin.ts'

const email = 'ada@example.com'
const password = 'correct horse battery'

async function start(t: TestContext, gate = '{ fields: { X-User: sub, X-Email: email } }') {
  const origin = await startEcho(t)
  const gateway = await startGateway(
    t,
    `pools:
  app: { origins: ['${origin.url}'] }
zones:
  - hosts: [localhost, 'b.example']
    protect: { sign_in: ${gate} }
    routes:
      - { path: /, pool: app }
      - { path: /open, pool: app, protect: off }
`,
  )
  const { setUp, account } = await gateway.firstStart
  const port = new URL(gateway.edge).port
  const site = `http://localhost:${port}`
  const founder = new Jar()
  await founder.send(await founder.open(setUp!), { email, password })
  return { origin, gateway, site, account, founder }
}

const seen = (shown: Shown) => JSON.parse(shown.body) as { url: string; headers: Record<string, string> }

test('a person signs in for a site, uses it, and signs out', async t => {
  const { site, gateway, origin } = await start(t)
  const ada = new Jar()
  const page = await ada.open(`${site}/deep/page?a=1&b=%2F`)
  assert.equal(page.url.origin, gateway.admin)
  assert.match(page.body, /to continue to <b><bdi[^>]*>localhost/)
  const shown = await ada.send(page, { email, password })
  assert.equal(shown.url.href, `${site}/deep/page?a=1&b=%2F`)
  const { url, headers } = seen(shown)
  assert.equal(url, '/deep/page?a=1&b=%2F')
  assert.match(headers['x-user']!, /^[0-9a-f]{32}$/)
  assert.equal(headers['x-email'], email)
  assert.equal(headers.cookie, undefined)
  assert.equal((await ada.ask(`${site}/other`)).status, 200)
  assert.equal(origin.count, 2)
  assert.doesNotMatch(
    JSON.stringify(gateway.lines),
    new RegExp([...ada.cookiesOf(new URL(site)).values()].join('|')),
  )

  // The pages know the person, who sees nothing of them at another visit.
  ada.cookiesOf(new URL(site)).clear()
  assert.equal((await ada.open(`${site}/again`)).url.href, `${site}/again`)

  const asked = await ada.open(`${site}/cdn-cgi/sign-out`)
  assert.match(asked.body, /ada@example\.com/)
  assert.equal((await ada.ask(`${site}/still`)).status, 200)
  const before = new Map(ada.cookiesOf(new URL(site)))
  assert.match((await ada.send(asked)).body, /You are signed out/)
  assert.equal((await ada.open(`${site}/gone`)).url.pathname, '/auth/sign-in')
  // Nor does the old cookie work for whoever copied it.
  const thief = new Jar()
  thief.cookies.set('localhost', before)
  assert.equal((await thief.ask(`${site}/gone`, { headers: { accept: '*/*' } })).status, 401)
})

test('nobody else gets in, and no session goes elsewhere', async t => {
  const { site, gateway, origin, founder } = await start(t)
  const program = { headers: { accept: 'application/json' } }
  await founder.open(`${site}/`)
  const count = origin.count
  const [[name, value]] = [...founder.cookiesOf(new URL(site))] as [[string, string]]
  const bearing = (cookie: string, to = site, more = {}) =>
    new Jar().ask(`${to}/`, { headers: { ...program.headers, cookie, ...more } })

  await t.test('with a cookie that is not one', async () => {
    const wrong = [
      '',
      `${name}=`,
      `${name}=${value.slice(1)}`,
      `${name}=${value}; ${name}=${value}`,
      `${name}=${'A'.repeat(54)}; ${name}=${value}`,
      `__Host-${name}=${value}`,
      `gatehouse=${value}`,
      `${name.toUpperCase()}=${value}`,
      `x=${name}=${value}`,
    ]
    for (const cookie of wrong) assert.equal((await bearing(cookie)).status, 401, cookie)
    assert.equal((await bearing(`a=b; ${name}=${value};c=d`)).status, 200)
  })

  await t.test('with that of another host, or over plain HTTP beyond this machine', async () => {
    const cookie = `${name}=${value}`
    assert.equal((await bearing(cookie, site, { host: 'b.example' })).status, 401)
    assert.equal((await bearing(`__Host-${name}=${value}`, site, { host: 'b.example' })).status, 401)
    for (const path of ['/cdn-cgi/sign-in', '/cdn-cgi/signed-in', '/cdn-cgi/sign-out']) {
      const page = await founder.ask(site + path, { headers: { host: 'b.example' } })
      assert.equal(page.status, 403)
      assert.match(page.body, /takes sign-ins over https alone/)
    }
  })

  await t.test('programs, scripts, forms and WebSockets learn why', async () => {
    const cases = [
      program,
      { headers: { 'sec-fetch-mode': 'cors' } },
      { headers: { 'sec-fetch-mode': 'no-cors' } },
      { method: 'POST', body: 'a=b' },
      { headers: { upgrade: 'websocket', connection: 'upgrade', 'sec-websocket-version': '13' } },
    ]
    for (const options of cases) {
      const refused = await new Jar().ask(`${site}/`, options)
      assert.equal(refused.status, 401, JSON.stringify(options))
      assert.equal(refused.headers.location, undefined)
    }
    assert.match((await new Jar().ask(`${site}/`, { method: 'POST', body: 'a=b' })).body, /was not forwarded/)
    assert.match(String((await new Jar().ask(`${site}/`, program)).headers['content-type']), /json/)
    assert.equal((await new Jar().ask(`${site}/open/door`)).status, 200)
  })
  assert.equal(origin.count, count + 2)

  await t.test('wherever a way back may point, it stays at the site, behind its gate', async () => {
    const ways = [
      ...[
        '//evil.example',
        '///evil.example',
        '/\\evil.example',
        '\\\\evil.example',
        'https://evil.example',
        'https:evil.example',
      ],
      ...[
        '/\t/evil.example',
        '/\n/evil.example',
        '\t//evil.example',
        ' //evil.example',
        '/%09/evil.example/..//x',
        '//evil.example/%2f..',
      ],
      ...[
        'javascript:alert(1)',
        'JaVaScRiPt:alert(1)',
        'data:text/html,x',
        'evil.example',
        '.evil.example',
        '@evil.example',
        ':80',
      ],
      ...[
        '/../../x',
        '/./x',
        '/a/../x',
        '/%2e%2e/x',
        '/a/%2E./x',
        '/open',
        '/open/door',
        '/cdn-cgi/sign-out',
        '/cdn-cgi/sign-in?to=/',
      ],
      ...[
        '',
        '?',
        '#',
        'x',
        '/\u0000',
        '/\u2028',
        '/é',
        '/a\rb',
        '/a\r\nSet-Cookie: a=b',
        `/${'a'.repeat(2_001)}`,
      ],
      ...[
        'http://localhost@evil.example',
        '//localhost@evil.example',
        '/;@evil.example//',
        '//[::1]/',
        '//127.0.0.1',
        '/\\/\\evil.example',
      ],
      ...[
        'https:/evil.example',
        'https:///evil.example',
        '\u00a0//evil.example',
        '\ufeff//evil.example',
        '/／evil.example',
        '／／evil.example',
      ],
    ]
    for (const to of ways) {
      const person = new Jar()
      person.cookies.set('127.0.0.1', new Map(founder.cookiesOf(new URL(gateway.admin))))
      const shown = await person.open(`${site}/cdn-cgi/sign-in?${new URLSearchParams({ to })}`)
      assert.equal(shown.url.origin, site, to)
      assert.ok(
        ['/', '/;@evil.example//', '/%09/evil.example/..//x'].includes(shown.url.pathname) ||
          shown.url.pathname === to,
        `${to} led to ${shown.url.href}`,
      )
      assert.ok(
        person.trail.every(url => [site, gateway.admin].includes(new URL(url).origin)),
        to,
      )
    }
  })

  await t.test('by a code of another browser, of another site, or twice', async () => {
    // The attacker has signed in, and stops before the code is exchanged.
    const attacker = new Jar()
    attacker.cookies.set('127.0.0.1', new Map(founder.cookiesOf(new URL(gateway.admin))))
    const begun = await attacker.ask(`${site}/cdn-cgi/sign-in?to=/mine`)
    const asked = new URL(begun.headers.location as string)
    const issue = async () =>
      new URL(String((await attacker.ask(asked)).headers.refresh).slice('0;url='.length))
    const way = await issue()
    assert.equal(way.origin, site)

    const victim = new Jar()
    assert.equal((await victim.open(way)).status, 403)
    await victim.ask(`${site}/cdn-cgi/sign-in?to=/`)
    assert.equal((await victim.open(way)).status, 403)
    assert.equal(victim.cookiesOf(new URL(site)).has(name), false)

    const other = new Jar()
    const { headers } = await other.ask(`${site}/cdn-cgi/sign-in?to=/`)
    const mixed = new URL(way)
    mixed.searchParams.set('state', new URL(headers.location as string).searchParams.get('state')!)
    assert.equal((await other.open(mixed)).status, 403)

    const fake = new URL(way)
    fake.searchParams.set(
      'state',
      `${way.searchParams.get('state')!.slice(0, 43)}.${Buffer.from('//evil.example').toString('base64url')}`,
    )
    const copy = new Jar()
    copy.cookies.set('localhost', new Map(attacker.cookiesOf(new URL(site))))
    assert.equal((await copy.open(fake)).status, 403)

    const planted = 'B'.repeat(43)
    attacker.cookiesOf(new URL(site)).set(name, planted)
    // Whoever tries a code spends it.
    assert.equal((await attacker.ask(way)).status, 403)
    const good = await issue()
    assert.equal((await attacker.open(good)).url.href, `${site}/mine`)
    assert.notEqual(attacker.cookiesOf(new URL(site)).get(name), planted)
    assert.equal((await copy.open(good)).status, 403)

    for (const at of [
      'https://evil.example',
      'http://localhost.evil.example',
      `${site}@evil.example`,
      `${site}/`,
      'http://b.example',
      'null',
      '',
    ]) {
      const to = new URL(asked)
      to.searchParams.set('site', at)
      assert.equal((await attacker.ask(to)).status, 400, at)
    }
  })

  await t.test('by a form of another site that signs out', async () => {
    const page = await founder.open(`${site}/cdn-cgi/sign-out`)
    const token = /name="form_token" value="([^"]+)"/.exec(page.body)![1]!
    const send = (headers: Record<string, string>, form: Record<string, string>) =>
      founder.ask(`${site}/cdn-cgi/sign-out`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: new URLSearchParams(form).toString(),
      })
    await send({ origin: 'https://evil.example' }, { form_token: token })
    await send({ 'sec-fetch-site': 'same-site' }, { form_token: token })
    await send({ origin: site }, {})
    await send({ origin: site }, { form_token: 'x'.repeat(43) })
    assert.equal((await founder.ask(`${site}/`, program)).status, 200)
  })
})

test('bounds hold as roles and memberships change', async t => {
  const { site, account, founder, gateway } = await start(t, '{}')
  const { token } = await gateway.firstStart
  const ask = async () => (await founder.ask(`${site}/`, { headers: { accept: '*/*' } })).status
  assert.equal((await founder.open(`${site}/`)).status, 200)
  const with_ = async (gate: string) => {
    gateway.rewrite(readFileSync(gateway.file, 'utf8').replace(/sign_in: .*/, `sign_in: ${gate} }`))
    const applied = gateway.logged('configuration reloaded', line => !seenLines.has(line))
    gateway.signal('SIGHUP')
    seenLines.add(await applied)
    return ask()
  }
  const seenLines = new Set<object>()
  assert.equal(await with_(`{ members_of: ${account}, roles: Super Administrator - All Privileges }`), 200)
  assert.equal(await with_(`{ members_of: ${account}, roles: Administrator }`), 403)
  assert.equal(await with_('{ members_of: 0123456789abcdef0123456789abcdef }'), 403)
  assert.equal(await with_('{ email_domains: example.com }'), 403, 'nobody has verified the address')
  assert.equal(await with_(`{ when: 'claims.email == "${email}" && size(claims.accounts) == 1' }`), 200)
  assert.equal(await with_('{ when: claims.second_factor == true }'), 403)
  assert.ok(token)
})
