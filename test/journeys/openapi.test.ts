// The API is asked all that its document tells of, over the wire, and must answer as documented. What is never answered must not stand in the document.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import type { Facts } from '../../src/admin/routes.ts'
import { routeOwner } from '../../src/store/records/model-route.ts'
import { AdminServer } from '../../src/admin/server.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { allowing, startApi } from '../admin/api.ts'
import { entryWith, keepEntries } from '../admin/ai-logs/log-entries.ts'
import { keepAccess } from '../admin/oauth-grants/access.ts'
import { keepMember, role } from '../admin/people/people.ts'
import { type Described, described } from '../admin/openapi/openapi-document.ts'
import { account, tokenWith } from '../tokens/token-with.ts'
import { type Ask, answered, ask, exampleOf, expect } from './openapi-asks.ts'
import {
  good,
  invitedMember,
  listOf,
  logParams,
  madeClient,
  madeGateway,
  ownToken,
  pendingMembership,
  rotatedClient,
} from './openapi-good-requests.ts'

/** Runs an admin listener that knows no more than the facts given. */
async function startWith(t: TestContext, facts: Facts): Promise<string> {
  const server = new AdminServer(facts, () => {})
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  return `http://127.0.0.1:${port}`
}

test('every operation responds to a valid request as documented, with each of its examples', async t => {
  const api = await startApi(t)
  for (const { id, body } of described)
    for (const example of body?.examples ?? [undefined]) {
      const request = await good[id]!(api)
      await expect(api, id, example === undefined ? request : { ...request, body: example }, 200)
    }
  assert.deepEqual(api.bugs, [])
})

test('every documented content type is returned on request', async t => {
  const api = await startApi(t)
  for (const { id, path, responses } of described)
    if (path === '/' || path.startsWith('/errors'))
      for (const type of Object.keys(responses[200]!.content))
        await expect(api, id, { ...(await good[id]!(api)), headers: { accept: type.split(';')[0]! } }, 200)
  const cut = { text: '{"model":"gp', isCut: true }
  await keepEntries(api.kept, [entryWith(1, { request: cut, response: cut, providerResponse: cut })])
  for (const id of ['getLogRequest', 'getLogResponse', 'getLogProviderResponse'])
    await expect(api, id, { params: logParams }, 200)
})

test('every documented query parameter is accepted at its bounds and in all its values, and not beyond', async t => {
  const api = await startApi(t)
  for (const { id, method, parameters } of described)
    for (const { name, in: place, schema } of parameters) {
      if (place !== 'query' || name.startsWith('filters.')) continue
      const send = async (value: unknown) => {
        const request = await good[id]!(api)
        return ask(api, id, { ...request, query: `?${name}=${encodeURIComponent(String(value))}` })
      }
      const [taken, refused] = samplesOf(schema)
      for (const value of taken) assert.equal((await send(value)).status, 200, `${method} ${name}=${value}`)
      for (const value of refused) assert.deepEqual((await send(value)).codes, [10001], `${name}=${value}`)
    }
})

// biome-ignore lint/suspicious/noExplicitAny: schemas are read as the JSON that they are
function samplesOf(schema: any): readonly [taken: readonly unknown[], refused: readonly unknown[]] {
  if (schema.enum) return [schema.enum, ['x']]
  if (schema.examples) return [schema.examples, ['', 'x']]
  if (schema.anyOf) return [['2026-01-31', '2026-01-31T12:00:00Z'], ['today']]
  if (schema.maximum)
    return [
      [schema.minimum, schema.maximum],
      [schema.minimum - 1, schema.maximum + 1, 'x'],
    ]
  if (schema.type === 'number')
    return [
      [0, 1.5],
      [-1, 'x'],
    ]
  if (schema.maxLength) return [['x'.repeat(schema.maxLength)], ['', 'x'.repeat(schema.maxLength + 1)]]
  return [['x'], []]
}

test('a caller without a token or permission is refused as documented', async t => {
  const api = await startApi(t)
  const powerless = await api.keepToken([])
  const everywhere = tokenWith({ policies: [allowing([...new Set(permissionsOf())], ['*'])] })
  await api.kept.tokens.insert(everywhere.token)
  for (const { id, hasToken, path, permission } of described.filter(({ hasToken }) => hasToken)) {
    assert.ok(hasToken)
    const request = await good[id]!(api)
    await expect(api, id, { ...request, token: null }, 401, 10000)
    await expect(api, id, { ...request, token: 'x' }, 401, 10000)
    if (isOfUser(path)) await expect(api, id, { ...request, token: api.owner.value }, 403, 10000)
    if (path.includes('{zone}')) await expect(api, id, { ...request, token: powerless.value }, 403, 10000)
    if (!path.includes('{account_id}')) continue
    const elsewhere = { ...request, params: { ...request.params, account_id: '1'.repeat(32) } }
    await expect(api, id, { ...elsewhere, token: powerless.value }, 403, 10000)
    if (permission !== null) await expect(api, id, { ...elsewhere, token: everywhere.value }, 404, 7003)
  }
})

test('a caller that may not read the metrics is refused as documented', async t => {
  const api = await startApi(t)
  const passedOn = { headers: { 'x-forwarded-for': '192.0.2.1' } }
  const powerless = await api.keepToken([])
  await expect(api, 'getMetrics', passedOn, 200)
  await expect(api, 'getMetrics', { ...passedOn, token: null }, 401, 10000)
  await expect(api, 'getMetrics', { ...passedOn, token: powerless.value }, 403, 10000)
  const facts = {
    unready: () => null,
    metricsAccess: 'token',
    metrics: async () => '',
    api: () => null,
  } as const
  await expect(api, 'getMetrics', { origin: await startWith(t, facts) }, 503, 10503)
})

test('missing records are 404 as documented', async t => {
  const api = await startApi(t)
  for (const { id, path, body } of described) {
    const request = { ...(await good[id]!(api)), ...(body && { body: body.examples[0] }) }
    for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
      await expect(api, id, { ...request, params: { ...request.params, [name!]: '%zz' } }, 404, 7003)
      if (name === 'account_id') continue
      const unknown = { ...request, params: { ...request.params, [name!]: '0'.repeat(32) } }
      await expect(api, id, unknown, 404, 7003)
    }
  }
})

test('an invalid query or body is refused as documented', async t => {
  const api = await startApi(t)
  for (const { id, method, hasToken, parameters, body } of described.filter(({ hasToken }) => hasToken)) {
    assert.ok(hasToken)
    const request = await good[id]!(api)
    const parameter = parameters.find(({ in: place }) => place === 'query')
    await expect(api, id, { ...request, query: '?colour=red' }, 400, 10003)
    if (parameter) {
      const pair = `${parameter.name}=${samplesOf(parameter.schema)[0][0]}`
      await expect(api, id, { ...request, query: `?${pair}&${pair}` }, 400, 10004)
    }
    if (method !== 'POST' && method !== 'PUT' && !body) continue
    const isJson = body === null || body.type === 'application/json'
    const most = mostBytes.get(id) ?? 1024 * 1024
    await expect(api, id, { ...request, body: 'x'.repeat(most + 1) }, 413, 6005)
    await expect(api, id, { ...request, body: '{}', headers: { 'content-type': 'text/plain' } }, 415, 6004)
    if (!isJson) await expect(api, id, { ...request, body: Buffer.from([0xff]) }, 400, 6003)
    if (!isJson) await expect(api, id, { ...request, body: ' ' }, 400, 10001)
    if (!isJson) continue
    await expect(api, id, { ...request, body: '{' }, 400, 6003)
    await expect(api, id, { ...request, body: '{"a":1,"a":1}' }, 400, 10004)
    await expect(api, id, { ...request, body: [] }, 400, 10001)
    if (body?.schema.required) await expect(api, id, { ...request, body: {} }, 400, 10002)
    const stray = { ...Object(body?.examples[0]), colour: 1 }
    await expect(api, id, { ...request, body: stray }, 400, 10003)
  }
})

const mostBytes: ReadonlyMap<string, number> = new Map([
  ['setErrorPage', 1_500_000],
  ['previewError', 4 * 1024 * 1024],
])

test('header fields are honoured as documented', async t => {
  const api = await startApi(t)
  for (const { id, parameters, body, path } of described) {
    const names = parameters.filter(({ in: place }) => place === 'header').map(({ name }) => name)
    const withBody = body ? { body: body.examples[0] } : {}
    const fresh = async (headers: Ask['headers']) => ({
      ...(await good[id]!(api)),
      ...withBody,
      headers: headers!,
    })
    if (names.includes('If-Match')) {
      await expect(api, id, await fresh({ 'if-match': 'x' }), 400, 10001)
      await expect(api, id, await fresh({ 'if-match': '"0"' }), 412, 10420)
      await expect(api, id, await fresh({ 'if-match': '*' }), 200)
      const request = await good[id]!(api)
      const { headers } = await ask(api, shownBy(id), request)
      const etag = headers.get('etag')!
      await expect(api, id, { ...request, ...withBody, headers: { 'if-match': etag } }, 200)
    }
    if (names.includes('Idempotency-Key')) {
      await expect(api, id, await fresh({ 'idempotency-key': 'é' }), 400, 10001)
      const request = await fresh({ 'idempotency-key': `once for ${path}` })
      const first = await ask(api, id, request)
      const again = await ask(api, id, request)
      assert.deepEqual(
        [again.status, again.json, again.headers.get('idempotency-replayed')],
        [200, first.json, 'true'],
      )
      if (body) await expect(api, id, { ...request, body: {} }, 422, 10422)
      const { current } = api.keys
      api.keys.current = new SecretKeys(randomBytes(32))
      await expect(api, id, request, 409, 10421)
      api.keys.current = current
    }
  }
})

/** Whether an operation is about the user for whom a token acts. */
function isOfUser(path: string): boolean {
  return /^\/client\/v4\/(user|memberships)\b/.test(path)
}

/** Returns the operation whose answer has the etag of what another changes. */
function shownBy(id: string): string {
  const [, kind] = /(Error|Access)Rules?$/.exec(id) ?? []
  if (kind) return `list${kind}Rules`
  if (/Polic(?:y|ies|yDraft)$/.test(id)) return 'listGatewayPolicies'
  if (id.endsWith('ErrorPage')) return 'getErrorPage'
  if (id.endsWith('Gateway')) return 'getGateway'
  if (id.endsWith('Token')) return 'getToken'
  return id.endsWith('Member') ? 'getMember' : 'getOAuthClient'
}

test('a request that conflicts with the current state is refused as documented', async t => {
  const api = await startApi(t)
  const gateway = await madeGateway(api)
  await expect(api, 'createGateway', { body: { id: gateway.params!.gateway_id } }, 409, 10001)
  const { params: ofRoute } = await good.getDynamicRoute!(api)
  const route = exampleOf('createDynamicRoute')
  await expect(api, 'createDynamicRoute', { params: ofRoute!, body: route }, 409, 10001)
  const other = await ask(api, 'createDynamicRoute', { params: ofRoute!, body: { ...route, name: 'other' } })
  const second = { ...ofRoute!, route_id: other.json.result.id }
  await expect(api, 'updateDynamicRoute', { params: second, body: { name: route.name } }, 409, 10001)
  const owner = routeOwner({ account, id: ofRoute!.gateway_id! })
  const { record: full } = (await api.kept.modelRoutes.get(owner, second.route_id))!
  for (let i = 2; i < 100; i++)
    await api.kept.modelRoutes.insert({ ...full, id: i.toString(16).padStart(32, '0'), name: `route ${i}` })
  const more = { params: ofRoute!, body: { ...route, name: 'more' } }
  await expect(api, 'createDynamicRoute', more, 409, 10414)

  const policies = await good.getPolicyDraft!(api)
  const policy = exampleOf('createGatewayPolicy', 0)
  await expect(api, 'createGatewayPolicy', { ...policies, body: policy }, 409, 10001)
  const { json } = await ask(api, 'createGatewayPolicy', { ...policies, body: { ...policy, name: 'Other' } })
  const namesake = { params: { ...policies.params!, policy_id: json.result.id }, body: policy }
  await expect(api, 'updateGatewayPolicy', namesake, 409, 10001)
  for (let i = 2; i < 100; i++)
    await expect(api, 'createGatewayPolicy', { ...policies, body: { ...policy, name: `${i}` } }, 200)
  await expect(api, 'createGatewayPolicy', { ...policies, body: { ...policy, name: 'more' } }, 409, 10414)
  await expect(api, 'commitPolicies', policies, 200)
  await expect(api, 'commitPolicies', policies, 409, 10001)

  const { params: ofAlert } = await good.listBudgetAlerts!(api)
  const alert = { params: ofAlert!, body: exampleOf('createBudgetAlert', 0) }
  for (let i = 1; i < 5; i++) await expect(api, 'createBudgetAlert', alert, 200)
  await expect(api, 'createBudgetAlert', alert, 409, 10414)

  const provider = { body: exampleOf('createCustomProvider') }
  await expect(api, 'createCustomProvider', provider, 200)
  await expect(api, 'createCustomProvider', provider, 409, 10001)
  for (let i = 1; i < 50; i++)
    await expect(api, 'createCustomProvider', { body: { ...(provider.body as object), slug: `p-${i}` } }, 200)
  await expect(api, 'createCustomProvider', { body: { ...(provider.body as object), slug: 'p' } }, 409, 10414)
  const config = { ...gateway, body: exampleOf('createProviderConfig') }
  for (let i = 0; i < 50; i++) await expect(api, 'createProviderConfig', config, 200)
  await expect(api, 'createProviderConfig', config, 409, 10414)
  const invitation = { body: exampleOf('createMember') }
  await expect(api, 'createMember', invitation, 200)
  await expect(api, 'createMember', invitation, 409, 10416)
  const { member } = await keepMember(api.kept, [role.super])
  const last = { params: { member_id: member.id } }
  await expect(api, 'updateMember', { ...last, body: exampleOf('updateMember') }, 409, 10415)
  await expect(api, 'deleteMember', last, 409, 10415)
  await expect(api, 'reinviteMember', last, 409, 10418)
  await expect(api, 'signMemberOut', await invitedMember(api), 409, 10419)
  await expect(api, 'rollToken', { params: (await ownToken(api)).params! }, 409, 10424)
  api.pages.origin = null
  await expect(api, 'createMember', invitation, 409, 10423)
  await expect(api, 'reinviteMember', last, 409, 10423)
  api.pages.origin = 'https://id.example'
  const proven = await pendingMembership(api)
  await expect(api, 'updateMembership', { ...proven, body: { status: 'accepted' } }, 200)
  await expect(api, 'updateMembership', { ...proven, body: { status: 'rejected' } }, 409, 10418)
  const alone = await keepAccess(api.kept, { now: api.clock.now(), account: '4'.repeat(32) })
  const superb = { ...alone.member, isSuper: true }
  await api.kept.members.replace(superb, (await api.kept.members.get(superb.account, superb.id))!.version)
  const leaving = { token: alone.value, params: { membership_id: superb.id } }
  await expect(api, 'deleteMembership', leaving, 409, 10415)

  await api.kept.errorRules.insert(listOf('error', 100) as never)
  await api.kept.accessRules.insert(listOf('access', 100) as never)
  for (const id of ['createErrorRule', 'createAccessRule']) {
    await expect(api, id, { body: exampleOf(id) }, 409, 10414)
    await expect(api, id, { body: { ...exampleOf(id), id: '0'.repeat(32) } }, 400, 10005)
  }

  await expect(api, 'rotateOAuthClientSecret', await rotatedClient(api), 409, 10409)
  await expect(api, 'rotateOAuthClientSecret', await madeClient(api, 1), 400, 10410)
  await expect(api, 'deleteRotatedOAuthClientSecret', await madeClient(api), 404, 10411)

  const client = await madeClient(api)
  const change = (body: object) => ({ ...client, body })
  await expect(api, 'updateOAuthClient', change({ visibility: 'public' }), 400, 10412)
  await expect(api, 'updateOAuthClient', change({ client_id: 'x' }), 400, 10005)
  const { client_id } = client.params!
  await expect(
    api,
    'createOAuthClient',
    { body: { ...exampleOf('createOAuthClient'), client_id } },
    400,
    10005,
  )
  const { record, version } = (await api.kept.oauthClients.get(account, client_id!))!
  const verified = { ...record.verification!, status: 'verified', verifiedAt: 0, nextCheckAt: null } as const
  const lastAnswer = { at: 0, outcome: 'no_match', records: ['x'] } as const
  await api.kept.oauthClients.replace({ ...record, verification: { ...verified, lastAnswer } }, version)
  await expect(api, 'updateOAuthClient', change({ client_uri: 'https://other.example/' }), 400, 10413)
  await expect(api, 'updateOAuthClient', change({ visibility: 'public' }), 200)
  await expect(api, 'updateOAuthClient', change({ visibility: 'private' }), 400, 10413)
  await expect(api, 'getOAuthClient', client, 200)

  for (const id of ['getLogRequest', 'getLogResponse']) {
    await keepEntries(api.kept, [entryWith(2)])
    await expect(api, id, { params: { ...logParams, log_id: '0000000000000002' } }, 404, 7003)
  }
})

test('a token that has made too many changes is refused as documented', async t => {
  const api = await startApi(t)
  const changing = described.filter(one => one.hasToken && one.method !== 'GET' && '429' in one.responses)
  assert.ok(changing.length > 0)
  const requests = []
  for (const { id } of changing) requests.push(await good[id]!(api))
  api.limitWrites(0)
  for (const [i, { id }] of changing.entries()) await expect(api, id, requests[i]!, 429, 10429)
})

test('a method that a path does not have is 405 with the documented ones', async t => {
  const api = await startApi(t)
  for (const path of new Set(described.map(({ path }) => path))) {
    const known = [...described, { method: 'POST', path: '/client/v4/user/tokens' }]
    const methods = known.filter(one => patternOf(one.path).test(path)).map(({ method }) => method)
    const wrong = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].find(method => !methods.includes(method))!
    const url = `${api.origin}${path.replace(/\{\w+\}/g, 'x')}`
    const response = await fetch(url, { method: wrong })
    const { errors } = (await response.json()) as { errors: [{ code: number }] }
    const allow = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods)
    assert.deepEqual([response.status, errors[0].code], [405, 7001], path)
    assert.deepEqual(response.headers.get('allow')!.split(', ').sort(), [...allow].sort(), path)
  }
})

test('an unreachable store, a gateway that is not ready and an internal error are reported as documented', async t => {
  const api = await startApi(t)
  const metrics = async () => ''
  const away = await startWith(t, {
    unready: () => 'starting',
    metricsAccess: 'token',
    metrics,
    api: () => null,
  })
  await expect(api, 'isReady', { origin: away }, 503)
  const reason = { code: 'store_empty', message: 'the store is empty', remedy: 'Restore it' } as const
  for (const [unready, status] of [
    ['store not trusted', 503],
    [null, 200],
  ] as const) {
    const origin = await startWith(t, {
      unready: () => unready,
      metricsAccess: 'token',
      metrics,
      api: () => null,
      storeHealth: () => ({
        ...{ isUnreachable: false, refusal: null, deafness: null },
        degradation: { reasons: [reason] },
      }),
    })
    await expect(api, 'isReady', { origin }, status)
  }
  const broken = await startWith(t, {
    unready: () => null,
    metricsAccess: 'open',
    metrics: () => Promise.reject(new Error('a mistake')),
    api: () => {
      throw new Error('a mistake')
    },
  })
  await expect(api, 'getMetrics', { origin: broken }, 500, 10500)
  for (const { id } of described.filter(({ hasToken }) => hasToken)) {
    const request = await good[id]!(api)
    await expect(api, id, { ...request, origin: away }, 503, 10503)
    await expect(api, id, { ...request, origin: broken }, 500, 10500)
  }
})

test('these tests have received everything documented: each status, each code, each content type', () => {
  const promised = described.flatMap(promisesOf)
  assert.deepEqual(
    promised.filter(promise => !answered.has(promise)),
    [],
  )
})

function promisesOf({ id, responses }: Described): readonly string[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const place = `${id} ${status}`
    if (status === '200') return Object.keys(content).map(type => `${place} ${type}`)
    // biome-ignore lint/suspicious/noExplicitAny: schemas are read as the JSON that they are
    const { properties } = content['application/json']!.schema as any
    const codes: readonly number[] = properties.errors?.items.properties.code.enum ?? []
    return [place, ...codes.map(code => `${place} ${code}`)]
  })
}

/** Tells what the paths of an operation look like; some are those of others too. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`)
}

function permissionsOf() {
  return described.flatMap(({ permission }) => permission ?? []) as Parameters<typeof allowing>[0]
}
