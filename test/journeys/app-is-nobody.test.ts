// An access token of an app opens APIs and nothing else: to pages and to the authorization server, who shows it is nobody, however it is shown.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { routes } from '../../src/dashboard/routes.ts'
import { ownCookies } from '../../src/http1/fields/own-cookies.ts'
import { paths as oauthPaths } from '../../src/oauth-server/http/paths.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { consentPath, paths } from '../../src/pages/parts/paths.ts'
import { oauthScopes } from '../../src/permissions/scopes.ts'
import { openStore } from '../../src/store/open.ts'
import { startGateway } from '../help/gateway.ts'
import { keepAccess } from '../oauth/grants/keep-access.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

/** Where a client or app shows tokens by right. */
const byRight: ReadonlySet<string> = new Set([oauthPaths.userinfo, oauthPaths.introspection])

test('a token of an app with every scope opens no page, no session and no consent', async t => {
  const url = `sqlite:${temporaryFile(t)}`
  const gateway = await startGateway(t, `store: { url: '\${STORE}', command_timeout: 5s }\nzones: []\n`, {
    env: { STORE: url },
  })
  const { account } = await gateway.firstStart
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const scopes = oauthScopes.map(({ id }) => id)
  const { value, user, client, member } = await keepAccess(store, { account, now: Date.now(), scopes })
  const api = `/client/v4/accounts/${account}`
  const authorization = `Bearer ${value}`
  assert.equal((await fetch(`${gateway.admin}${api}/members`, { headers: { authorization } })).status, 200)

  const cookie = Object.values(ownCookies)
    .flatMap(name => [`${name}=${value}`, `__Host-${name}=${value}`])
    .join('; ')
  const filled = (path: string) =>
    path
      .replace('{account}', account)
      .replace(/\{\w+\}/g, step => (step === '{member}' ? member.id : client.id))
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUris[0]!,
    response_type: 'code',
    scope: 'user.read',
  })
  const places = [
    ...Object.values(paths),
    consentPath('a'.repeat(43)),
    `${oauthPaths.authorization}?${query}`,
    `${oauthPaths.authorization}?${query}&prompt=none`,
    ...Object.values(oauthPaths).filter(path => !byRight.has(path)),
    ...routes.map(({ path }) => filled(path)),
  ]
  assert.ok(places.length > 100, String(places.length))
  const form = { token: value, form_token: value, code: value, refresh_token: value, decision: 'allow' }
  const ask = async (method: string, path: string, headers: Readonly<Record<string, string>>) => {
    const own = { origin: gateway.admin, 'sec-fetch-site': 'same-origin' }
    const sent = method === 'GET' ? {} : { body: new URLSearchParams(form) }
    const response = await fetch(gateway.admin + path, {
      method,
      redirect: 'manual',
      headers: { ...own, ...headers },
      ...sent,
    })
    const location = (response.headers.get('location') ?? '').replace(/consent\/[\w-]+/, 'consent/…')
    await response.arrayBuffer()
    return [response.status, location]
  }
  for (const path of places)
    for (const method of ['GET', 'POST']) {
      const nobody = await ask(method, path, {})
      for (const headers of [{ authorization }, { cookie }, { authorization, cookie }])
        assert.deepEqual(
          await ask(method, path, headers),
          nobody,
          `${method} ${path} ${Object.keys(headers)}`,
        )
      const isLedBack = String(nobody[1]).startsWith(client.redirectUris[0]!)
      assert.ok(!isLedBack || !String(nobody[1]).includes('code='), `${method} ${path}`)
    }
  // A session in the place of the token would be noticed.
  const visit = { address: '192.0.2.7', userAgent: null, ray: '0' }
  const proof = { method: 'password', secondFactor: false, at: Date.now() } as const
  const { value: session, session: begun } = await new Sessions(store).begin(user, proof, visit)
  const nobody = await ask('GET', paths.account, {})
  const person = await ask('GET', paths.account, { cookie: `${ownCookies.session}=${session}` })
  assert.deepEqual([nobody[0], person[0]], [303, 200])
  assert.equal(await store.credentials.remove('session', begun.id), true)
  // None of it has made a session or a grant.
  assert.equal((await store.oauthGrants.ofClient(client.id, { offset: 0, limit: 9 })).total, 1)
  assert.deepEqual(await store.credentials.list({ user: member.user }, 'session', 9), [])
})
