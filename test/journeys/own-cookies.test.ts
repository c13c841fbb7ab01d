// Every cookie that the gateway gives to browsers, collected from its pages, is kept from the sites on the same host, and is not set by them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ownCookies } from '../../src/http1/fields/own-cookies.ts'
import { bodyOfClient } from '../admin/oauth-clients/client-bodies.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { startSite } from '../help/site.ts'
import { type ShownPage, Visitor } from '../sign-in/site.ts'

const password = 'correct horse battery'

/** A person whose browser notes the name of every cookie that it is given. */
class Collector extends Visitor {
  readonly names = new Set<string>()

  override async send(path: string, options: RequestInit): Promise<ShownPage> {
    const page = await super.send(path, options)
    for (const field of page.headers.getSetCookie()) this.names.add(field.slice(0, field.indexOf('=')))
    return page
  }
}

/** Sets up, signs out and in again, and lets an app ask for consent. */
async function collect(gateway: RunningGateway, person: Collector): Promise<ReadonlySet<string>> {
  const { account, token, setUp } = await gateway.firstStart
  const first = new URL(setUp!)
  const form = await person.get(first.pathname + first.search)
  await form.submit('/auth/set-up', { email: 'ada@example.com', password })
  person.cookies.clear()
  const signIn = await person.get('/auth/sign-in')
  assert.equal((await signIn.submit('/auth/sign-in', { email: 'ada@example.com', password })).status, 303)
  const made = await fetch(`${gateway.admin}/client/v4/accounts/${account}/oauth_clients`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(bodyOfClient()),
  })
  const { result } = (await made.json()) as {
    readonly result: { readonly client_id: string; readonly redirect_uris: readonly string[] }
  }
  const query = new URLSearchParams({
    client_id: result.client_id,
    redirect_uri: result.redirect_uris[0]!,
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    state: 'xyz',
  })
  const asked = await person.get(`/oauth2/auth?${query}`)
  assert.match(asked.location ?? '', /consent/, asked.text)
  return person.names
}

async function start(t: TestContext, more: string, hosts: string) {
  const seen: { cookie: string | undefined; sets: readonly string[] } = { cookie: '', sets: [] }
  const site = await startSite(t, (request, response) => {
    seen.cookie = request.headers.cookie
    response.setHeader('set-cookie', [...seen.sets, 'site=1'])
    response.end('site')
  })
  const gateway = await startGateway(
    t,
    `${more}
pools: { site: { origins: ['${site}'] } }
zones: [{ name: site, hosts: [${hosts}], routes: [{ path: /, pool: site }] }]
`,
  )
  /** Opens the site with a browser that has these cookies; it tries to set them too. */
  const visit = async (names: readonly string[]) => {
    seen.sets = names.map(name => `${name}=planted; Path=/`)
    const cookie = ['first=1', ...names.map(name => `${name}=secret`), 'last=2'].join('; ')
    const response = await fetch(gateway.edge, { headers: { cookie } })
    await response.text()
    return [seen.cookie, response.headers.getSetCookie()]
  }
  return { gateway, visit }
}

/** Those that browsers get on the hosts of sites behind a gate. */
const ofSites = [ownCookies.site, ownCookies.way].flatMap(name => [name, `__Host-${name}`])
const bare = new Set<string>(Object.values(ownCookies).filter(name => !ofSites.includes(name)))

test('on the host of the side port, a site neither gets nor sets a cookie of its pages', async t => {
  const { gateway, visit } = await start(t, '', '127.0.0.1, localhost')
  const names = await collect(gateway, new Collector(gateway.admin))
  assert.deepEqual(names, bare)
  assert.deepEqual(await visit([...names, ...ofSites]), ['first=1; last=2', ['site=1']])
})

test('the same for cookies over https, which pass to and from our own pages through the edge', async t => {
  const own = 'oauth: { issuer: https://gate.example }\ndashboard: { host: gate.example }'
  const { gateway, visit } = await start(t, own, '127.0.0.1')
  const names = await collect(gateway, new Collector('https://gate.example', gateway.edge))
  assert.deepEqual(new Set([...names].map(name => name.replace(/^__(?:Host|Secure)-/, ''))), bare)
  assert.ok([...names].every(name => name.startsWith('__')))
  assert.deepEqual(await visit([...names, ...ofSites]), ['first=1; last=2', ['site=1']])
})
