// The dashboard published through the edge: a person sets up, signs in and makes a token on its host, in one process and with workers.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startGateway } from '../help/gateway.ts'
import { startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { Visitor } from '../sign-in/site.ts'

const password = 'correct horse battery'

async function start(t: TestContext, workers: number) {
  const site = await startSite(t, (_, response) => response.end('site'))
  const gateway = await startGateway(
    t,
    `workers: ${workers}
dashboard: { host: gate.example }
pools: { site: { origins: [${site}] } }
zones: [{ name: site, hosts: [site.example], routes: [{ path: /, pool: site }] }]
`,
  )
  const first = await gateway.firstStart
  const at = (origin: string, via = gateway.edge) => new Visitor(origin, via)
  return { gateway, first, at, person: at('https://gate.example') }
}

for (const workers of thorough([0, 2], [2]))
  test(`people run the gateway on the host of the dashboard, with ${workers} workers`, async t => {
    const { first, person, at, gateway } = await start(t, workers)
    const setUp = new URL(first.setUp!)
    assert.equal(setUp.origin, 'https://gate.example')
    const form = await person.get(setUp.pathname + setUp.search)
    assert.equal(form.status, 200, form.text)
    const done = await form.submit('/auth/set-up', { email: 'ada@example.com', password })
    assert.equal(done.status, 303, done.text)
    assert.deepEqual([...person.cookies.keys()], ['__Host-gatehouse'])

    const root = await person.get('/')
    assert.equal(root.location, '/dashboard')
    const tokens = `/dashboard/${first.account}/tokens`
    const page = await person.get(tokens)
    assert.match(page.text, /API tokens .* active/)
    assert.equal(page.headers.get('svc-ray')!.length, 16)
    const made = await (await person.get(`${tokens}/new`)).submit(`${tokens}/new`, {
      name: 'by hand',
      'permissions.9eae2320b1c13682c802b22394d9d563': 'on',
    })
    assert.match(made.text, /Token created/)
    const value = /data-copy>(svct_[^<]*)</.exec(made.body)![1]!
    const headers = { authorization: `Bearer ${value}` }
    const audit = await fetch(`${gateway.admin}/client/v4/accounts/${first.account}/audit_logs`, { headers })
    const { result } = (await audit.json()) as {
      result: {
        interface: string
        actor: object
        resource: { type: string }
        metadata: { ray: string }
      }[]
    }
    const entry = result.find(one => one.interface === 'UI' && one.resource.type === 'token')!
    assert.deepEqual((entry.actor as { ip: string }).ip, '127.0.0.1')
    assert.equal(entry.metadata.ray, made.headers.get('svc-ray'))

    // Nothing else of the side port is there, and the pages are on no other host of the edge.
    assert.equal((await person.get('/client/v4/accounts')).status, 404)
    assert.equal((await person.get('/metrics')).status, 404)
    for (const path of ['openid-configuration', 'oauth-protected-resource'])
      assert.equal((await person.get(`/.well-known/${path}`)).status, 404)
    assert.equal((await person.get('/oauth2/auth')).status, 404)
    assert.equal((await at('https://site.example').get('/dashboard')).body, 'site')
    const forged = await person.post(`${tokens}/new`, { name: 'x' }, { origin: 'https://site.example' })
    assert.equal(forged.status, 403)

    // Browsers get a page for what is not there, and by other spellings of the host they are where they wanted to be.
    const accept = { accept: 'text/html,*/*;q=0.8' }
    const nothing = await person.send('/nothing', { headers: accept })
    assert.equal(nothing.status, 404)
    assert.match(nothing.body, /<h1>Page not found<\/h1>.*href="\/dashboard"/s)
    assert.match((await person.get('/nothing')).body, /"success":false/)
    const spelled = await at('https://gate.example').send('/auth/sign-in', {
      headers: { host: 'GATE.example:443' },
    })
    assert.equal(spelled.status, 200)
    assert.equal((await at('https://gate.example:80').get(tokens)).location, `https://gate.example${tokens}`)

    // The side port is another origin, to which nobody has signed in.
    const direct = at(gateway.admin, gateway.admin)
    const own = await direct.get(tokens)
    assert.equal(own.location, `/auth/sign-in?${new URLSearchParams({ next: tokens })}`)
    const signIn = await own.follow()
    const signedIn = await signIn.submit('/auth/sign-in', { email: 'ada@example.com', password })
    assert.equal(signedIn.location, tokens)
    assert.deepEqual([...direct.cookies.keys()], ['gatehouse'])
    assert.equal((await direct.get(tokens)).status, 200)
    assert.equal((await direct.send('/', { headers: { accept: 'text/html' } })).location, '/dashboard')
    assert.match((await direct.send('/', { headers: { accept: 'application/json' } })).body, /"links"/)
    assert.match((await direct.get('/')).body, /<h1>Gatehouse/)
    assert.match((await direct.send('/nothing', { headers: accept })).body, /<h1>Page not found/)
    assert.match((await direct.send('/client/v4/nothing', { headers: accept })).body, /"success":false/)
  })

test('sign-in, sessions and the audit log of published hosts go by the address and the scheme of the client', async t => {
  const gateway = await startGateway(
    t,
    `trusted_proxies: [127.0.0.1]
dashboard: { host: gate.example }
oauth: { issuer: https://id.example }
zones: []
`,
  )
  const { setUp, account, token } = await gateway.firstStart
  const from = (address: string, host = 'gate.example') =>
    new Visitor(`https://${host}`, gateway.edge, {
      'x-forwarded-for': address,
      'x-forwarded-proto': 'https',
    })
  // A visitor over plain HTTP is told to use https, if the proxies in front report the scheme.
  const visitor = new Visitor('https://gate.example', gateway.edge)
  const proto = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '192.0.2.1' }
  for (const path of ['/dashboard', '/auth/sign-in']) {
    const plain = await visitor.get(path)
    assert.equal(plain.status, 403)
    assert.match(plain.text, /served over https.*Open it over https/)
    assert.equal(plain.headers.get('set-cookie'), null)
    assert.notEqual((await visitor.send(path, { headers: proto })).status, 403)
  }

  const person = from('192.0.2.7')
  const { pathname, search } = new URL(setUp!)
  const form = await person.get(pathname + search)
  const done = await form.submit('/auth/set-up', { email: 'ada@example.com', password })
  assert.equal(done.status, 303, done.text)
  assert.match((await person.get('/auth/account')).text, /From 192\.0\.2\.7/)
  const tokens = `/dashboard/${account}/tokens`
  const made = await (await person.get(`${tokens}/new`)).submit(`${tokens}/new`, {
    name: 'by hand',
    'permissions.0abaf97bd1d5a4f891a1995d77fb3079': 'on',
  })
  assert.match(made.text, /Token created/)
  const headers = { authorization: `Bearer ${token}` }
  const audit = await fetch(`${gateway.admin}/client/v4/accounts/${account}/audit_logs`, { headers })
  const { result } = (await audit.json()) as {
    result: { interface: string; action: { type: string }; actor: { ip?: string } }[]
  }
  assert.deepEqual(
    result.filter(one => one.interface === 'UI').map(({ action, actor }) => [action.type, actor.ip]),
    ['create', 'sign_in', 'create'].map(action => [action, '192.0.2.7']),
  )

  const guess = async (address: string, host: string, nth: number) => {
    const page = await from(address, host).get('/auth/sign-in')
    const fields = { email: `nobody-${nth}@example.com`, password: 'wrong battery staple' }
    return (await page.submit('/auth/sign-in', fields)).status
  }
  const hosts = ['id.example', 'gate.example']
  for (let i = 0; i < 20; i++) assert.notEqual(await guess('192.0.2.9', hosts[i % 2]!, i), 429, `${i}`)
  for (const host of hosts) {
    assert.equal(await guess('192.0.2.9', host, 20), 429)
    assert.notEqual(await guess('192.0.2.10', host, 20), 429)
  }
})
