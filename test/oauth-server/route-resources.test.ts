// Access tokens for routes of the operator: what they are issued for, who may introspect them, and what becomes of a scope that is gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Config } from '../../src/config/model/config.ts'
import type { TokenGateConfig } from '../../src/config/model/protect-config.ts'
import { RouteResources } from '../../src/oauth/grants/route-resources.ts'
import { zoneTo } from '../help/edge.ts'
import { errorIn, refresh, send, tokensIn, tokensOf, visit } from './app.ts'
import { authorizationPath, authorize, register, startSite } from './site.ts'

const orders = 'https://site.test/orders'

function configWith(server: string | null, scopes: readonly string[]): Pick<Config, 'zones' | 'scopes'> {
  const gate: TokenGateConfig = {
    kind: 'token',
    accepts: { scopes: ['orders.read'], server, account: null },
    fields: [],
    endsOpen: false,
  }
  const [open] = zoneTo([]).routes
  const routes = [open!, { ...open!, path: '/orders', protect: [gate] }]
  return {
    zones: [{ ...zoneTo([]), routes }],
    scopes: scopes.map(id => ({ id, description: `May do ${id}.` })),
  }
}

test('a token for a route has its scopes alone, and its server may introspect it', async t => {
  let config = configWith(null, ['orders.read', 'orders.write'])
  const site = await startSite(t, { routes: new RouteResources(() => config) })
  const scopes = ['openid', 'offline_access', 'user.read', 'ai_gateway.run', 'orders.read', 'orders.write']
  const { app, browser, account } = await visit(site, { scopes })
  const [server, stranger, anyone] = [
    await register(site, account),
    await register(site, account),
    await register(site, account, { tokenEndpointAuthMethod: 'none' }),
  ]
  config = configWith(server.client.id, ['orders.read', 'orders.write'])
  const asked = { resource: orders, scope: scopes.join(' ') }
  const tokens = await tokensOf(site, browser, app, asked)
  assert.equal(tokens.scope.split(' ').includes('orders.read'), true)
  const held = await site.verifier.verify(tokens.access_token, null, 'route')
  assert.ok(typeof held === 'object')
  assert.deepEqual(held.actor!.resources, [orders])
  assert.deepEqual(held.actor!.apis, [])
  assert.deepEqual(held.actor!.scopes, ['orders.read'])
  const introspect = async (by: typeof app) =>
    (await (await send(site, '/oauth2/introspect', by, { token: tokens.access_token })).json()) as object
  assert.partialDeepStrictEqual(await introspect(server), {
    active: true,
    aud: orders,
    scope: 'orders.read',
    client_id: app.client.id,
  })
  assert.partialDeepStrictEqual(await introspect(app), { active: true })
  assert.deepEqual(await introspect(stranger), { active: false })
  config = configWith(anyone.client.id, ['orders.read', 'orders.write'])
  assert.deepEqual(await introspect(anyone), { active: false }, 'anyone can name a client without a secret')
  config = configWith(server.client.id, ['orders.read'])
  const other = await tokensOf(site, browser, app, { scope: 'openid user.read' })
  const foreign = await send(site, '/oauth2/introspect', server, { token: other.access_token })
  assert.deepEqual(await foreign.json(), { active: false }, 'one for APIs of the gateway')
})

test('a consent that named no route is asked for anew where one is named', async t => {
  const config = configWith(null, ['orders.read'])
  const site = await startSite(t, { routes: new RouteResources(() => config) })
  const { app, browser } = await visit(site, { scopes: ['openid', 'offline_access', 'orders.read'] })
  const path = (more: Record<string, string>) =>
    authorizationPath(app.client, { scope: 'openid offline_access orders.read', ...more })
  const isAsked = async (more: Record<string, string>) => {
    const { headers } = await browser.get(path(more))
    return new URL(headers.get('location')!, site.issuer).origin === site.issuer
  }
  assert.equal(await isAsked({}), true)
  await authorize(site, browser, path({}))
  assert.equal(await isAsked({}), false)
  assert.equal(await isAsked({ resource: `${site.issuer}/client/v4` }), false)
  assert.equal(await isAsked({ resource: orders }), true)
  const { access_token } = await tokensOf(site, browser, app, {
    resource: orders,
    scope: 'openid offline_access orders.read',
  })
  const held = await site.verifier.verify(access_token, null, 'route')
  assert.ok(typeof held === 'object')
  assert.deepEqual(held.actor!.resources, [orders])
  assert.equal(await isAsked({ resource: orders }), false)
  assert.equal(await isAsked({}), false)
})

test('a scope or route that is gone is unknown, and nothing is issued for it', async t => {
  let config = configWith(null, ['orders.read'])
  const site = await startSite(t, { routes: new RouteResources(() => config) })
  const scopes = ['openid', 'offline_access', 'user.read', 'orders.read']
  const { app, browser } = await visit(site, { scopes })
  const errorOf = async (more: Record<string, string>) => {
    const { headers } = await browser.get(authorizationPath(app.client, more))
    return new URL(headers.get('location')!, site.issuer).searchParams.get('error')
  }
  const discovered = async () => {
    const response = await fetch(`${site.issuer}/.well-known/oauth-authorization-server`)
    return ((await response.json()) as { scopes_supported: string[] }).scopes_supported
  }
  const asked = { resource: orders, scope: 'openid offline_access orders.read' }
  const tokens = await tokensOf(site, browser, app, asked)
  assert.ok((await discovered()).includes('orders.read'))
  for (const resource of [
    'https://site.test/',
    'https://site.test/orders/1',
    'https://site.test/orders?a',
    'https://site.test//orders',
    'https://site.test/%6frders',
    'https://site.test/orders/..;/orders',
    'https://a@site.test/orders',
    'https://other.test/orders',
    'ftp://site.test/orders',
  ])
    assert.equal(await errorOf({ ...asked, resource }), 'invalid_target', resource)
  config = configWith(null, [])
  assert.ok(!(await discovered()).includes('orders.read'))
  assert.equal(await errorOf(asked), 'invalid_scope')
  const told = await send(site, '/oauth2/introspect', app, { token: tokens.access_token })
  assert.partialDeepStrictEqual(await told.json(), { active: true, scope: '' })
  config = { ...configWith(null, []), zones: [] }
  const refreshed = await refresh(site, app, tokens.refresh_token)
  assert.equal((await errorIn(refreshed)).error, 'invalid_target')
  const usual = await tokensOf(site, browser, app, { scope: '' })
  assert.ok(!usual.scope.includes('orders.read'), 'without scope, those of the client that exist')
  config = configWith(null, ['orders.read'])
  assert.equal((await tokensIn(await refresh(site, app, tokens.refresh_token))).scope, 'orders.read')
})
