import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { mintSecret } from '../../../src/oauth/clients/secret.ts'
import type { OAuthClient } from '../../../src/store/records/oauth-client.ts'
import type { ShownPage } from '../../sign-in/site.ts'
import { authorizationEvent, oauthClient, oauthGrant } from '../../store/contract-specimens.ts'
import { openDashboard, type RoleName } from '../site.ts'

const details = {
  client_name: 'Shop <b>',
  kind: 'server',
  secret_in: 'header',
  refresh: 'on',
  'redirect_uris.0': 'https://shop.example/callback',
}
const scopes = {
  'scopes.openid': 'on',
  'scopes.ai_gateway.run': 'on',
  'scopes.ai_gateway.read': 'on',
  'optional_scopes.ai_gateway.read': 'on',
  'optional_scopes.ai_gateway.edit': 'on',
}

const copied = ({ body }: ShownPage) => [...body.matchAll(/data-copy>([^<]*)</g)].map(([, text]) => text)

/** Opens the dashboard of an account that has a client. */
async function openWith(t: TestContext, more: Partial<OAuthClient> = {}, role?: RoleName) {
  const site = await openDashboard(t, role)
  const client = oauthClient({ account: site.account, name: 'Shop', ...more })
  await site.kept.oauthClients.insert(client)
  const path = `${site.base}/oauth-clients/${client.id}`
  const read = async () => (await site.ask('GET', `/oauth_clients/${client.id}`)).json.result
  return { ...site, client, path, read }
}

test('a server app is created in two steps, and its secret is shown once', async t => {
  const { base, submit, get, ask } = await openDashboard(t)
  assert.match((await get(`${base}/oauth-clients`)).text, /No clients yet .* Create a client/)
  const second = await submit(`${base}/oauth-clients/new`, details)
  assert.equal(second.status, 200)
  assert.match(second.text, /Step 2 of 2: what Shop <b> may ask for/)
  assert.equal((await ask('GET', '/oauth_clients')).json.result_info.total_count, 0)
  const made = await second.submit(`${base}/oauth-clients/new/scopes`, scopes)
  assert.match(made.text, /Client created/)
  const [id, secret] = copied(made)
  assert.match(secret!, /^svcs_[\w-]{43}$/)
  const client = (await ask('GET', `/oauth_clients/${id}`)).json.result
  assert.deepEqual(
    [client.client_name, client.grant_types, client.scopes, client.optional_scopes],
    [
      'Shop <b>',
      ['authorization_code', 'refresh_token'],
      ['openid', 'ai_gateway.run', 'ai_gateway.read', 'offline_access'],
      ['ai_gateway.read'],
    ],
  )
  const again = await second.submit(`${base}/oauth-clients/new/scopes`, scopes)
  assert.deepEqual(copied(again), copied(made))
  assert.equal((await ask('GET', '/oauth_clients')).json.result_info.total_count, 1)
  const page = await get(`${base}/oauth-clients/${id}`)
  assert.ok(!page.body.includes(secret!))
  assert.match(
    (await get(`${base}/oauth-clients`)).text,
    /Shop <b> private https:\/\/shop\.example\/callback/,
  )
})

test('an app has its logo on its own page alone, and its initials on lists', async t => {
  const logoUri = 'https://shop.example/logo.svg'
  const { base, get, path } = await openWith(t, { name: 'Tea Ledger', logoUri })
  const [list, page] = [await get(`${base}/oauth-clients`), await get(path)]
  assert.match(page.body, /<img src="https:\/\/shop.example\/logo.svg" alt="TL" /)
  assert.match(page.headers.get('content-security-policy')!, /img-src 'self' data: https:/)
  assert.match(list.body, /<bdi>TL<\/bdi>/)
  assert.doesNotMatch(list.body, /<img/)
  assert.match(list.headers.get('content-security-policy')!, /img-src 'self' data:;/)
})

test('a name of several scripts is shown as such, in the list and on its page', async t => {
  const { base, get, client } = await openWith(t, { name: 'Pаypal' })
  assert.match((await get(`${base}/oauth-clients`)).text, /Pаypal .*mixed scripts/)
  const { text } = await get(`${base}/oauth-clients/${client.id}`)
  assert.match(text, /Its name has letters of several scripts, Latin and Cyrillic \(а\)/)
})

test('an app without a secret is told to use PKCE', async t => {
  const { base, submit } = await openDashboard(t)
  const second = await submit(`${base}/oauth-clients/new`, {
    ...details,
    kind: 'public',
    'redirect_uris.1': 'com.example.shop:/callback',
  })
  const made = await second.submit(`${base}/oauth-clients/new/scopes`, scopes)
  assert.match(made.text, /Client created/)
  assert.doesNotMatch(made.text, /Save the secret|CLIENT_SECRET/)
  assert.match(made.text, /client\.None\(\)/)
  assert.match(made.text, /calculatePKCECodeChallenge/)
})

test('mistakes in the first step are shown next to their fields, and nothing is created', async t => {
  const { base, submit, ask } = await openDashboard(t)
  const again = await submit(`${base}/oauth-clients/new`, {
    ...details,
    client_name: '',
    'redirect_uris.0': '',
    'redirect_uris.1': 'http://shop.example/callback',
    'redirect_uris.2': 'https://shop.example/ok',
    client_uri: 'nowhere"><script>alert(1)</script>',
  })
  assert.equal(again.status, 422)
  for (const id of ['client_name', 'redirect_uris.0', 'client_uri'])
    assert.match(again.body, new RegExp(`id="${id.replace('.', '\\.')}-fault">`), id)
  assert.doesNotMatch(again.body, /redirect_uris\.1-fault|scopes-fault|<script>alert/)
  assert.match(again.body, /<details class="more" open>/)
  assert.match(again.body, /id="redirect_uris\.1"[^>]* value="https:\/\/shop\.example\/ok"/)
  assert.equal((await ask('GET', '/oauth_clients')).json.result_info.total_count, 0)
  const more = await submit(`${base}/oauth-clients/new`, { ...details, more: 'allowed_cors_origins' })
  assert.match(more.body, /id="allowed_cors_origins\.0"[^>]* autofocus/)
})

test('the second step wants a scope, and leads back to the first with all that was typed', async t => {
  const { base, submit } = await openDashboard(t)
  const second = await submit(`${base}/oauth-clients/new`, details)
  const path = `${base}/oauth-clients/new/scopes`
  const again = await second.submit(path, {})
  assert.equal(again.status, 422)
  assert.match(again.body, /id="scopes-fault">/)
  const back = await again.submit(path, { ...scopes, back: 'on' })
  assert.match(back.text, /Step 1 of 2/)
  assert.match(back.body, /id="redirect_uris\.0"[^>]* value="https:\/\/shop\.example\/callback"/)
  const forth = await back.submit(`${base}/oauth-clients/new`, details)
  assert.match(forth.body, /id="scopes\.ai_gateway\.run"[^>]* checked/)
})

test('clients are found by name and visibility', async t => {
  const { base, get, kept, account } = await openWith(t)
  await kept.oauthClients.insert(oauthClient({ account, name: 'Blog', visibility: 'public' }))
  assert.match((await get(`${base}/oauth-clients?name=BLO`)).text, /Blog public/)
  assert.doesNotMatch((await get(`${base}/oauth-clients?name=BLO`)).text, /Shop/)
  assert.doesNotMatch((await get(`${base}/oauth-clients?visibility=private`)).text, /Blog/)
  assert.match((await get(`${base}/oauth-clients?name=%22%3E%3Cb%3E`)).text, /Nothing found/)
})

test('a client is edited, unless somebody did so meanwhile', async t => {
  const { path, get, read, ask, client } = await openWith(t)
  const page = await get(`${path}/edit`)
  const changes = { ...details, client_name: 'Shop 2', client_uri: client.clientUri!, logo_uri: '' }
  const changed = await page.submit(`${path}/edit`, changes)
  assert.match((await changed.follow()).text, /The client was changed/)
  const now = await read()
  assert.deepEqual([now.client_name, now.logo_uri, now.allowed_cors_origins], ['Shop 2', undefined, []])
  assert.equal(now.client_uri_verification.text.slice(-32), client.verification!.code)
  const late = await page.submit(`${path}/edit`, { ...changes, client_name: 'Shop 3' })
  assert.equal(late.status, 412)
  assert.match(late.text, /It is now: Shop 2/)
  await late.submit(`${path}/edit`, { ...changes, client_name: 'Shop 3' })
  assert.equal((await read()).client_name, 'Shop 3')
  const [entry] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual(entry.metadata.changed, ['client_name'])
})

test('scopes are changed', async t => {
  const { path, submit, read } = await openWith(t)
  const changed = await submit(`${path}/scopes`, scopes)
  assert.match((await changed.follow()).text, /The scopes were changed/)
  assert.deepEqual((await read()).scopes, ['openid', 'ai_gateway.run', 'ai_gateway.read', 'offline_access'])
  const none = await submit(`${path}/scopes`, {})
  assert.equal(none.status, 422)
  assert.match(none.body, /id="scopes-fault">/)
})

test('a secret is rotated: created once, and the old one deleted with a warning', async t => {
  const { path, get, submit, read, clock, client, kept, keys } = await openWith(t, { secrets: [] })
  const { secret } = mintSecret(keys.current, clock.now())
  const { version } = (await kept.oauthClients.get(client.account, client.id))!
  const used = { ...secret, lastUsedAt: Date.now() }
  await kept.oauthClients.replace({ ...client, secrets: [used] }, version)
  const page = await get(path)
  const made = await page.submit(`${path}/secrets/new`)
  const [value] = copied(made)
  assert.match(value!, /^svcs_/)
  assert.deepEqual(copied(await page.submit(`${path}/secrets/new`)), [value])
  assert.equal((await read()).client_secrets.length, 2)
  assert.match((await get(path)).text, /the most that there can be: delete the old one first/)
  assert.match((await get(`${path}/secrets/drop`)).text, /It was used lately/)
  const dropped = await submit(`${path}/secrets/drop`)
  assert.match((await dropped.follow()).text, /The old secret was deleted/)
  assert.equal((await read()).client_secrets.length, 1)
})

test('the owner of a home page sees what to publish, and can start over', async t => {
  const { path, get, client, kept } = await openWith(t)
  const page = await get(path)
  assert.match(page.text, /app\.example\.com/)
  assert.ok(copied(page).includes(`svc_oauth_client_publisher=${client.verification!.code}`))
  assert.match(page.text, /quo"te \\ ünïcode/)
  const { version } = (await kept.oauthClients.get(client.account, client.id))!
  const failed = { ...client.verification!, status: 'failed' } as const
  await kept.oauthClients.replace({ ...client, verification: failed }, version)
  const over = await get(path)
  assert.match(over.text, /verification failed/)
  const restarted = await over.submit(`${path}/verify`)
  assert.match((await restarted.follow()).text, /The verification began again/)
})

test('a client is published when nothing is missing', async t => {
  const { path, get, submit, read, ask, client, kept } = await openWith(t, { scopes: ['openid'] })
  assert.match(
    (await get(path)).text,
    /missing The host of the home page.* missing A scope that opens something/,
  )
  const early = await submit(`${path}/publish`)
  assert.equal(early.status, 422)
  assert.match(early.text, /must be verified by DNS/)
  const { version } = (await kept.oauthClients.get(client.account, client.id))!
  const verified = { ...client.verification!, status: 'verified', verifiedAt: 1 } as const
  await kept.oauthClients.replace({ ...client, verification: verified, scopes: ['ai_gateway.run'] }, version)
  assert.match((await get(path)).text, /Publish…/)
  assert.match((await get(`${path}/publish`)).text, /This is permanent/)
  const form = await get(`${path}/publish`)
  await ask('PATCH', `/oauth_clients/${client.id}`, { body: { client_name: 'Another shop' } })
  const late = await form.submit(`${path}/publish`)
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this.*Another shop/)
  assert.equal((await read()).visibility, 'private')
  const published = await submit(`${path}/publish`)
  assert.match((await published.follow()).text, /The client is public.*Everybody may allow this app/)
  assert.equal((await read()).visibility, 'public')
})

test('consents are listed and ended, one and all', async t => {
  const { path, get, submit, client, account, kept } = await openWith(t)
  assert.match((await get(`${path}/grants`)).text, /Nobody yet/)
  const given = Array.from({ length: 3 }, () => oauthGrant({ client: client.id, clientAccount: account }))
  for (const grant of given) await kept.oauthGrants.insert(grant)
  assert.match((await get(path)).text, /3 consents of people/)
  const ended = await submit(`${path}/grants/${given[0]!.id}/end`)
  const rest = await ended.follow()
  assert.match(rest.text, /The consent has ended/)
  assert.ok(!rest.body.includes(given[0]!.user))
  assert.match((await get(`${path}/grants/end`)).text, /2 consents end/)
  assert.equal((await submit(`${path}/grants/end`)).status, 303)
})

test('events say why people could not connect', async t => {
  const { path, get, client, account, kept } = await openWith(t)
  const of = { client: client.id, clientAccount: account }
  const reason = 'redirect_uri sent: https://evil.example/"><img src=x>; registered: https://shop.example'
  await kept.authorizationEvents.append(authorizationEvent({ ...of, reason }))
  await kept.authorizationEvents.append(
    authorizationEvent({ ...of, result: 'success', error: null, reason: null, step: 'consent' }),
  )
  const page = await get(`${path}/events`)
  assert.match(page.text, /consent success/)
  assert.ok(page.text.includes(reason))
  assert.doesNotMatch(page.body, /<img src=x/)
  assert.doesNotMatch((await get(`${path}/events?result=failure`)).text, /consent success/)
  assert.match((await get(path)).text, /Authorization events.*invalid_grant/)
})

test('a client is deleted by who types its name', async t => {
  const { path, get, submit, client, account, kept } = await openWith(t)
  await kept.oauthGrants.insert(oauthGrant({ client: client.id, clientAccount: account }))
  assert.match((await get(`${path}/delete`)).text, /One consent ends at once/)
  const refused = await submit(`${path}/delete`, { typed: 'Stop' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /This does not match/)
  const deleted = await submit(`${path}/delete`, { typed: 'Shop' })
  assert.match((await deleted.follow()).text, /The client was deleted/)
  assert.equal((await get(path)).status, 404)
})

test('a user with read permission sees clients, and no controls to change them', async t => {
  const { base, path, get, visitor } = await openWith(t, {}, 'Administrator Read Only')
  assert.doesNotMatch((await get(`${base}/oauth-clients`)).text, /Create a client/)
  assert.doesNotMatch((await get(path)).text, /Edit|Create a new|Delete|Danger|Change the scopes/)
  for (const below of [
    'edit',
    'scopes',
    'secrets/new',
    'secrets/drop',
    'verify',
    'publish',
    'delete',
    'grants/end',
  ])
    assert.equal((await visitor.post(`${path}/${below}`, {})).status, 404, below)
  assert.equal((await visitor.post(`${base}/oauth-clients/new`, {})).status, 404)
})

test('texts of owners never run as script', async t => {
  const evil = '"><script>alert(1)</script>'
  const { base, path, get } = await openWith(t, {
    name: evil,
    redirectUris: [`https://shop.example/${evil}`, `com.example:/${evil}`],
    postLogoutRedirectUris: [`https://shop.example/?${evil}`],
    clientUri: `https://shop.example/${evil}`,
    logoUri: `https://shop.example/${evil}`,
    policyUri: `javascript:alert(1)`,
  })
  for (const page of [
    base.concat('/oauth-clients'),
    path,
    `${path}/edit`,
    `${path}/delete`,
    `${path}/publish`,
  ]) {
    const { body } = await get(page)
    assert.doesNotMatch(body, /<script>alert|href="javascript/, page)
  }
})

test('a preset ticks scopes in the second step of a new client, and of one that is changed', async t => {
  const { base, submit, path, read } = await openWith(t, { scopes: ['user.read'] })
  const second = await submit(`${base}/oauth-clients/new`, details)
  const next = `${base}/oauth-clients/new/scopes`
  const picked = await second.submit(next, { 'scopes.openid': 'on', preset: 'models' })
  const tickedOn = ({ body }: ShownPage) =>
    Array.from(body.matchAll(/<input id="scopes\.([\w.]+)"[^>]* checked/g), ([, id]) => id)
  assert.deepEqual(tickedOn(picked), ['ai_gateway.run'])
  assert.match((await picked.submit(next, { 'scopes.ai_gateway.run': 'on' })).text, /Client created/)
  const changing = await submit(`${path}/scopes`, { preset: 'read' })
  assert.ok(tickedOn(changing).includes('zones.read') && !tickedOn(changing).includes('zones.write'))
  assert.deepEqual((await read()).scopes, ['user.read'])
})
