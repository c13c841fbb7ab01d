import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { oauthScopes } from '../../../src/permissions/scopes.ts'
import { keepAccess } from '../../oauth/grants/keep-access.ts'
import { roleIds } from '../../oauth/grants/parts-with.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

/** Asks with just these header fields, that of Host included. */
async function ask(url: string, headers: Readonly<Record<string, string>> = {}) {
  const [response] = (await once(get(url, { headers, agent: false }), 'response')) as [IncomingMessage]
  const body = await text(response)
  return {
    status: response.statusCode,
    headers: response.headers,
    challenge: response.headers['www-authenticate'],
    body,
  }
}

const tokens = `/client/v4/accounts/${account}/tokens`
const metadataOf = (base: string, path = '/client/v4') =>
  `resource_metadata="${base}/.well-known/oauth-protected-resource${path}"`

test('a 401 names the metadata by the host that was asked, the scope, and whether there was a token', async t => {
  const { origin, sidePortAuth } = await startApi(t)
  const hop = sidePortAuth.write({ address: '192.0.2.1', ray: '0123456789abcdef' })
  const passedOn = { via: '1.1 x', 'x-forwarded-host': 'gate.example', 'x-forwarded-proto': 'https' }
  const scope = 'scope="api_tokens.read"'
  for (const [headers, challenge] of [
    [{}, `Bearer ${metadataOf(origin)}, ${scope}`],
    [{ host: 'LocalHost:81' }, `Bearer ${metadataOf('http://localhost:81')}, ${scope}`],
    [{ host: 'id.example' }, `Bearer ${metadataOf('https://id.example')}, ${scope}`],
    [{ host: '"' }, `Bearer ${scope}`],
    [{ ...passedOn, 'svc-hop': hop }, `Bearer ${metadataOf('https://gate.example')}, ${scope}`],
    [{ ...passedOn, host: 'other.example' }, `Bearer ${metadataOf('http://other.example')}, ${scope}`],
    [{ authorization: 'Bearer no' }, `Bearer ${metadataOf(origin)}, ${scope}, error="invalid_token"`],
    [{ authorization: 'Basic Og==' }, `Bearer ${metadataOf(origin)}, ${scope}`],
  ] as const) {
    const { status, challenge: got } = await ask(`${origin}${tokens}`, headers)
    assert.deepEqual([status, got], [401, challenge])
  }
})

test('what a 401 names says which API it is, at whatever path below it, and where tokens come from', async t => {
  const { origin } = await startApi(t)
  const { challenge } = await ask(`${origin}${tokens}`)
  const [, named] = /resource_metadata="([^"]+)"/.exec(challenge!)!
  const response = await ask(named!)
  assert.deepEqual([response.status, response.headers['content-type']], [200, 'application/json'])
  assert.equal(response.headers['access-control-allow-origin'], '*')
  const metadata = JSON.parse(response.body)
  assert.deepEqual(
    { ...metadata, scopes_supported: [...metadata.scopes_supported].sort() },
    {
      resource: `${origin}/client/v4`,
      authorization_servers: ['https://id.example'],
      scopes_supported: oauthScopes
        .map(({ id }) => id)
        .filter(scope => scope !== 'ai_gateway.run')
        .sort(),
      bearer_methods_supported: ['header'],
      resource_name: 'Gatehouse management API',
    },
  )
  for (const path of ['', '/client/v4', '/client/v4/accounts/1']) {
    const { body } = await ask(`${origin}/.well-known/oauth-protected-resource${path}?a=b`)
    assert.equal(JSON.parse(body).resource, `${origin}${path}`)
  }
  for (const path of ['/', '/metrics', '/client/v40', '//evil.example/client/v4', '/client/v4/../../x'])
    assert.equal((await ask(`${origin}/.well-known/oauth-protected-resource${path}`)).status, 404, path)
  const posted = await fetch(named!, { method: 'POST' })
  assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD'])
})

test('an app that lacks a scope is told which, one whose user lacks the role is not', async t => {
  const { origin, kept } = await startApi(t)
  const as = async (scope: string, role: string) => {
    const { value } = await keepAccess(kept, {
      account,
      life: 1e15,
      scopes: [scope],
      roles: roleIds(role),
    })
    return ask(`${origin}${tokens}`, { authorization: `Bearer ${value}` })
  }
  const without = await as('oauth_clients.write', 'Administrator')
  assert.equal(without.status, 403)
  assert.equal(
    without.challenge,
    `Bearer ${metadataOf(origin)}, scope="api_tokens.read", error="insufficient_scope"`,
  )
  const powerless = await as('api_tokens.read', 'OAuth Client Write')
  assert.deepEqual([powerless.status, powerless.challenge], [403, undefined])
  const writer = await as('api_tokens.write', 'Administrator Read Only')
  assert.deepEqual([writer.status, writer.challenge], [200, undefined])
})
