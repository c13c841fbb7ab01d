import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepAccess } from '../oauth/grants/keep-access.ts'
import { account } from '../tokens/token-with.ts'
import { entryWith, keepEntries } from './ai-logs/log-entries.ts'
import { allowing, startApi } from './api.ts'

test('the audit entry of a change names the app, its user and the consent, and that of a token stays as it is', async t => {
  const { ask, kept, lines } = await startApi(t)
  const { value, user, client, grant } = await keepAccess(kept, {
    account,
    life: 1e15,
    scopes: ['ai_gateway.edit'],
  })
  const body = (id: string) => ({ id, collect_logs: false })
  assert.equal(
    (await ask('POST', '/ai-gateway/gateways', { token: value, body: body('by-app') })).status,
    200,
  )
  assert.equal((await ask('POST', '/ai-gateway/gateways', { body: body('by-token') })).status, 200)
  const { json } = await ask('GET', '/audit_logs')
  const entryOf = (id: string) =>
    json.result.find((entry: { resource: { id: string } }) => entry.resource.id === id)
  const byApp = entryOf('by-app')
  const actor = { id: user.id, email: user.email, email_verified: false, type: 'user', ip: '127.0.0.1' }
  assert.deepEqual(byApp.actor, actor)
  assert.partialDeepStrictEqual(byApp.metadata, {
    oauth_client_id: client.id,
    oauth_client_name: client.name,
    oauth_grant_id: grant.id,
  })
  const byToken = entryOf('by-token')
  assert.deepEqual(Object.keys(byToken.actor), ['id', 'type', 'name', 'ip'])
  assert.deepEqual(Object.keys(byToken.metadata), ['ray', 'changed'])
  const [told] = lines.filter(({ resource }) => resource === 'by-app')
  assert.partialDeepStrictEqual(told, { actor: grant.id, user: user.id, client: client.id })
})

test('a log entry of a call shows the app and its user, and can be found by either', async t => {
  const { ask, kept } = await startApi(t)
  const app = { user: 'a'.repeat(32), email: 'ann@example.com', client: 'c'.repeat(32), clientName: 'An app' }
  const verified = { ...app, user: 'b'.repeat(32), email: 'bob@example.com', isEmailVerified: true }
  await keepEntries(kept, [
    entryWith(1, {}),
    entryWith(2, { app: verified, tokenName: 'An app' }),
    entryWith(3, { app, tokenName: 'An app' }),
  ])
  const path = '/ai-gateway/gateways/default/logs'
  const { json } = await ask('GET', path)
  const [ofApp, ofVerified, ofToken] = json.result
  assert.deepEqual([ofVerified.user_email, ofVerified.user_email_verified], ['bob@example.com', true])
  assert.partialDeepStrictEqual(ofApp, {
    user_id: app.user,
    user_email: 'ann@example.com',
    user_email_verified: false,
    client_id: app.client,
    client_name: 'An app',
  })
  assert.ok(!('user_id' in ofToken || 'client_id' in ofToken))
  for (const [query, ids] of [
    [`user_id=${app.user}`, [ofApp.id]],
    [`client_id=${app.client}`, [ofApp.id, ofVerified.id]],
    [`filters.key=client_id&filters.operator=eq&filters.value=${app.client}`, [ofApp.id, ofVerified.id]],
  ] as const) {
    const found = await ask('GET', `${path}?${query}`)
    assert.deepEqual(
      found.json.result.map(({ id }: { id: string }) => id),
      ids,
      query,
    )
  }
})

test('an app cannot give more than it has: a token beyond its scopes is refused', async t => {
  const { ask, kept } = await startApi(t)
  const { value } = await keepAccess(kept, { account, life: 1e15, scopes: ['api_tokens.write'] })
  const tokenOf = (permission: Parameters<typeof allowing>[0][number]) => {
    const { id: _, permissionGroups, effect, accounts } = allowing([permission])
    const resources = Object.fromEntries(accounts.map(id => [`svc.api.account.${id}`, '*']))
    return {
      name: 'x',
      policies: [{ effect, permission_groups: permissionGroups.map(id => ({ id })), resources }],
    }
  }
  const beyond = await ask('POST', '/tokens', { token: value, body: tokenOf('AI Gateway Run') })
  assert.equal(beyond.status, 403, JSON.stringify(beyond.json))
})
