// The schemas of bodies against the server that reads them: what one refuses the other refuses, but for the rules that a schema has no words for.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { roles } from '../../../src/permissions/roles.ts'
import { budgetAlertSetId } from '../../../src/store/records/budget-alerts.ts'
import { policySetId } from '../../../src/store/records/policy.ts'
import { zoneOwner } from '../../../src/store/records/zone-lists.ts'
import { anyCharacter, anyUrl } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'
import { account } from '../../tokens/token-with.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'
import { startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { memberWith, role } from '../people/people.ts'
import { type Described, described, faultsOf } from './openapi-document.ts'

type Api = Awaited<ReturnType<typeof startApi>>
type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** Rules that look at several members at once, at the meaning of a text, at classes of characters, or at the clock. */
const unspoken = [
  /^[\w.[\]]+ must not contain lone surrogates$/,
  /^expires_on must be (in the future|later than not_before)$/,
  /^(expires_on|not_before) must be a time such as/,
  /^id must match the id in the path/,
  /^rate_limiting_interval must be at least 1 second, since/,
  /^policies\[\d+\]\.permission_groups\[\d+\] must have the id or name/,
  /^policies\[\d+\]\.resources must be /,
  /^condition\.request_ip\.(in|not_in)\[\d+\] must be an IP address or a network/,
  /^name must (be a string of 1 to (100|120) characters|not contain control characters or lone surrogates)$/,
  /^client_name must (be in Unicode normalization|not contain (lone surrogates|line breaks|characters that change))/,
  /^client_name must (contain only visible characters|not begin or end with a space|not begin with a combining)/,
  /^client_uri must have a (full host name|host name|host in a domain of your own)/,
  /^\w+_(uris?|origins)(\[\d+\])? must (be an absolute URI|be written as |not have a user name or password$)/,
  /^\w+_(uris?|origins)(\[\d+\])? must (have a host (of|that)|have two hexadecimal digits|not contain escaped)/,
  /redirect_uris\[\d+\] must not (use the scheme|have (code|state|iss|error) in its query)/,
  /redirect_uris\[\d+\] must begin with https:\/\/ \(app schemes are only for clients/,
  /^\w+_(uris|origins)\[\d+\] duplicates an earlier item$/,
  // The configuration has scopes too.
  /^scopes\[\d+\] must be a scope id: see /,
  /^optional_scopes\[\d+\] must also be in scopes/,
  /^scopes must include .*, since optional_scopes does/,
  /^token_endpoint_auth_method must be none while/,
  /before the client can become public/,
  /^email must be an e-mail address such as/,
  /^roles\[\d+\](\.id)? duplicates an earlier item$/,
  /^client_certificate must be a certificate in PEM/,
  /^(email|status) must be as it is, or be left out$/,
  /^(rule\.)?expression must be a CEL expression/,
  /^(rule\.)?content must have 1 to 10240 bytes/,
  /^(rule\.)?description must (be a string of 1 to 500 characters|not contain control characters or lone surrogates)$/,
  /^list must be partners or scanners$/,
  /^(ip|country|user_agent|referer|referer_not|path)\[\d+\] must (be|begin with|not)/,
  /^ids\[\d+\] must be the id of a rule in this list$/,
  /^ids must list every rule; missing:/,
  /^position\.index must be at most/,
  /^position\.(before|after) must be the id of a rule in this list$/,
  /^host must be a host name or an IP address/,
  /^method must be an HTTP method$/,
  /^path must begin with \/ and contain /,
  /^ip must be an IP address$/,
  /^country must be (the two letters|a two-letter country code of ISO 3166-1)/,
  /^(accept|headers\..*) must be a valid header field value/s,
  /^headers\..* is not a valid header field name$/s,
  /^page\.html must not/,
  /^(\S+ of )?(element "|elements)/,
  /^Version not found$/,
  /^metadata must have at most 4096 bytes$/,
  /^spend_limits\.rules\[\d+\]\.(window|time_zone|technique) must (be|not)/,
  /^spend_limits\.rules\[\d+\]\.window is required$/,
  /^spend_limits\.rules\[\d+\]\.limit must be a (number of USD above 0|whole number)/,
  /^spend_limits\.rules\[\d+\]\.id duplicates/,
  /^spend_limits\.rules\[\d+\]\..+\.values (is required|must be left out)/s,
  /^spend_limits\.rules\[\d+\]\..+\.values\[\d+\] (duplicates|must be a string|must not contain)/s,
  /^spend_limits\.rules\[\d+\]\.metadata must have at most 5 members/,
  /^unpriced_cost must be a number of USD above 0/,
  /^Commit not found$/,
  /^(resource\.(model|provider)(\[\d+\])?|identity\.\w+|model|provider) must (be a string of 1|not contain control)/,
  /^actor must /,
  /^condition must be a CEL expression/,
  /^action\.(amount must be a number of USD above 0|time_zone must be (the name|left out))/,
  /^provider must be given, unless model begins with it/,
  /^metadata must /,
  /^base_url /,
  /^url must (be an https URL without a fragment|not contain a user)/,
  /^headers must /,
  /is no provider of this gateway or account$/,
]

const creations: Readonly<Record<string, string>> = {
  updateToken: 'createToken',
  updateGateway: 'createGateway',
  updateOAuthClient: 'createOAuthClient',
  updateErrorRule: 'createErrorRule',
  updateAccessRule: 'createAccessRule',
  updateMember: 'createMember',
  updateCustomProvider: 'createCustomProvider',
  updateDynamicRoute: 'createDynamicRoute',
  updateGatewayPolicy: 'createGatewayPolicy',
  updateBudgetAlert: 'createBudgetAlert',
  createRouteVersion: 'createDynamicRoute',
  createRouteDeployment: 'createDynamicRoute',
}
/** What the state of things may refuse: a second one of the same name or address, and to accept without a link. */
const refusable = ['createGateway', 'createMember', 'updateMembership']

const find = (id: string) => described.find(operation => operation.id === id)!
const withBody = described.filter(({ body }) => body?.type === 'application/json')
let made = 0

async function start(t: TestContext): Promise<Api> {
  const api = await startApi(t)
  await keepEntries(api.kept, [entryWith(1)])
  return api
}

/** What the last body was sent to, as long as it was refused and so changed nothing. */
const unchanged = new WeakMap<Api, { readonly id: string; readonly target: string }>()

/** Sends a body to an operation, to what was made for it alone where it changes something. */
async function send(api: Api, { id, method, path }: Described, body: Json) {
  if (id === 'updateMembership') return sendAsPerson(api, { method, path }, body)
  const last = unchanged.get(api)
  const target = last?.id === id ? last.target : await prepare(api, id, path)
  const response = await api.ask(method, filled(target), { body })
  if (response.status === 400) unchanged.set(api, { id, target })
  else unchanged.delete(api)
  return response
}

async function prepare(api: Api, id: string, path: string): Promise<string> {
  await withoutRules(api)
  const creation = creations[id] && find(creations[id])
  return creation ? makeFor(api, creation, path) : path
}

/** Sends a decision on an invitation, as the person who is invited. */
async function sendAsPerson(api: Api, { method, path }: Pick<Described, 'method' | 'path'>, body: Json) {
  const { value: token, user } = await keepAccess(api.kept, { now: api.clock.now() })
  const { version } = (await api.kept.users.get(user.account, user.id))!
  await api.kept.users.replace({ ...user, emailVerifiedAt: 1 }, version)
  const member = memberWith(user, [role.reader], { account: '3'.repeat(32), status: 'pending' })
  await api.kept.accounts.insert({ id: member.account, name: 'elsewhere', createdAt: 1 })
  await api.kept.members.insert(member)
  return api.ask(method, path.replace('{membership_id}', member.id), { token, body })
}

async function makeFor(api: Api, { method, path, body }: Described, template: string): Promise<string> {
  const example = body!.examples[0] as Record<string, Json>
  const fresh = {
    ...example,
    ...('id' in example && { id: `made-${++made}` }),
    ...('email' in example && { email: `made-${++made}@example.com` }),
  }
  const { json } = await api.ask(method, filled(path), { body: fresh })
  return filled(template).replace(
    /\{(?:(?:token|gateway|client|rule|member|route|policy|alert)_id|slug)\}/,
    json.result.client_id ?? json.result.id,
  )
}

/** There can be so many rules and routes, so each body finds none. */
async function withoutRules({ kept }: Api): Promise<void> {
  for (const records of [kept.errorRules, kept.accessRules]) await records.remove(zoneOwner, 'main')
  for await (const providers of kept.customProviders.walk(account))
    for (const { id } of providers) await kept.customProviders.remove(account, id)
  const gateway = (await kept.gateways.get(account, 'default'))!
  await kept.gateways.replace({ ...gateway.record, providerConfigs: [] }, gateway.version)
  for await (const routes of kept.modelRoutes.walk(`${account}/default`))
    for (const { account, id } of routes) await kept.modelRoutes.remove(account, id)
  await kept.policySets.remove(`${account}/default`, policySetId)
  await kept.budgetAlertSets.remove(`${account}/default`, budgetAlertSetId)
}

function filled(path: string): string {
  return path
    .replace('/client/v4/accounts/{account_id}', '')
    .replace('{zone}', 'main')
    .replace('{gateway_id}', 'default')
    .replace('{log_id}', entryWith(1).id)
}

/** Asserts that schema and server agree on a body, as far as the schema has words; gives whether it is good. */
async function agree(api: Api, operation: Described, body: Json): Promise<boolean> {
  const faults = faultsOf(operation.body!.schema, body)
  const { status, json } = await send(api, operation, body)
  const what = `${operation.id} ${JSON.stringify(body)}`
  if (faults !== '') assert.equal(status, 400, `${what}: ${faults}`)
  else if (status === 409) assert.ok(refusable.includes(operation.id), what)
  else if (status !== 200)
    for (const { message } of json.errors)
      assert.ok(
        unspoken.some(rule => rule.test(message)),
        `${what}: ${status} ${message}`,
      )
  return faults === ''
}

test('a changed example is valid or invalid for both', async t => {
  const api = await start(t)
  for (const operation of withBody) {
    const { schema, examples } = operation.body!
    const names = Object.keys((schema as { properties: object }).properties)
    const bodies = fc
      .constantFrom(...(examples as Json[]))
      .chain(example => fc.tuple(fc.constant(example), fc.array(change(example, names), { maxLength: 2 })))
      .map(([example, changes]) => changes.reduce((body, apply) => apply(body), example))
    await fc.assert(
      fc.asyncProperty(bodies, async body => void (await agree(api, operation, body))),
      { numRuns: thorough(30, 6) },
    )
  }
  assert.deepEqual(api.bugs, [])
})

type Change = (body: Json) => Json

/** Makes changes: a member or element put in, put in place of another, or taken away. */
function change(example: Json, names: readonly string[]): fc.Arbitrary<Change> {
  const places = [...placesOf(example), ...names.map(name => [name])]
  return fc
    .constantFrom(...places)
    .chain(place => fc.tuple(fc.constant(place), fc.option(valuesFor(place), { nil: undefined, freq: 8 })))
    .map(
      ([place, value]) =>
        body =>
          withAt(body, place, value),
    )
}

/** What stands where there should be a URI, is one more often than not. */
function valuesFor(place: readonly string[]): fc.Arbitrary<Json> {
  if (!/uri|origin/.test(place[0] ?? '')) return values
  const weighted = { weight: 3, arbitrary: place.length > 1 ? uris : fc.oneof(uris, fc.array(uris)) }
  return fc.oneof<fc.WeightedArbitrary<Json>[]>(weighted, { weight: 1, arbitrary: values })
}

function placesOf(value: Json, place: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [place]
  const deeper = Object.entries(value).flatMap(([name, member]) => placesOf(member, [...place, name]))
  const behind = Array.isArray(value) ? [[...place, String(value.length)]] : []
  return [...(place.length > 0 ? [place] : []), ...behind, ...deeper]
}

/** Puts a value in a place, or takes away what is there; a body that has no such place stays. */
function withAt(body: Json, [name, ...rest]: readonly string[], value: Json | undefined): Json {
  if (name === undefined) return value ?? null
  if (typeof body !== 'object' || body === null) return body
  const next = rest.length === 0 ? value : withAt(Object(body)[name] ?? null, rest, value)
  if (Array.isArray(body)) return body.toSpliced(Number(name), 1, ...(next === undefined ? [] : [next]))
  const { [name]: _, ...others } = body as Record<string, Json>
  return next === undefined ? others : { ...others, [name]: next }
}

const oddUris = [
  'https://a.example/',
  'https://a.example',
  'https://a.example/a|b',
  'https://a.example/a"b',
  'https://a.example/%',
  'https://a.example/%0g',
  'https://a.example/%41',
  'https://a.example/%0a',
  'https://a..example/',
  'https://a.example./',
  `https://${'a'.repeat(64)}.example/`,
  'https://a.example/?code=1',
  'https://a.example/#',
  'https://a.example:443/',
  'https://A.example/',
  'https://*.a.example/',
  'https://a.example\\b',
  'https://user@a.example/',
  'https://a.example?x',
  'https://a.example/\u00e9',
  'https://co.uk/',
  'https://127.0.0.1/',
  'https:a.example',
  'https://',
  'http://a.example/',
  'http://localhost:8080/cb',
  'http://localhost',
  'http://localhostile.example/',
  'http://127.0.0.1:1',
  'http://127.1/',
  'http://[::1]',
  'com.example.app:/cb',
  'com.example.app:',
  'app:/cb',
  'javascript:alert(1)',
  'x.y:*',
]
const uris = fc.oneof(
  fc.constantFrom(...oddUris),
  anyUrl,
  fc.integer({ min: 500, max: 520 }).map(length => 'https://a.example/'.padEnd(length, 'x')),
)
const texts = fc.oneof(
  uris,
  fc.constantFrom(
    '',
    ' ',
    'x',
    'é',
    'e\u0301',
    '\u202e',
    '\ud800',
    '*',
    'none',
    'authorization_code',
    'refresh_token',
    'implicit',
    'code',
    'token',
    'openid',
    'user.read',
    'offline_access',
    'ai_gateway.run',
    'public',
    'private',
    'AI Gateway Run',
    'allow',
    'active',
    '10.0.0.0/8',
    '2030-01-01T00:00:00Z',
    '2030-02-30T00:00:00+01:00',
  ),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.integer({ min: 60, max: 140 }).map(length => 'n'.repeat(length)),
)
const values: fc.Arbitrary<Json> = fc.oneof(
  texts,
  fc.constantFrom<Json>(null, true, false, 0, 1, -1, 1.5, 10_000_000, 10_000_001, 1e21),
  fc.array(texts, { maxLength: 4 }),
  fc
    .integer({ min: 18, max: 22 })
    .map(count => Array.from({ length: count }, (_, i) => `https://a${i}.example`)),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
)

const oddTexts = ['', ' ', '\u202e', '\ud800', '\n', 'x\0', 'e\u0301', '*']

test('odd texts are valid or invalid for both, in any place', async t => {
  const api = await start(t)
  const seen = new Set<string>()
  for (const operation of withBody)
    for (const example of operation.body!.examples as Json[])
      for (const place of placesOf(example)) {
        const kind = `${operation.id} ${place.map(step => (/^\d+$/.test(step) ? '' : step)).join('.')}`
        if (seen.has(kind)) continue
        seen.add(kind)
        // Each place gets another two of them.
        const texts = thorough(
          oddTexts,
          [seen.size, seen.size + 3].map(at => oddTexts[at % oddTexts.length]!),
        )
        for (const text of texts) await agree(api, operation, withAt(example, place, text))
      }
  assert.ok(seen.size > 200)
})

test('odd URIs are valid or invalid for both, in any member', async t => {
  const api = await start(t)
  const operation = find('createOAuthClient')
  for (const example of operation.body!.examples as Record<string, Json>[])
    for (const member of Object.keys((operation.body!.schema as { properties: object }).properties))
      if (/_uris?$|_origins$/.test(member))
        for (const uri of oddUris)
          await agree(api, operation, { ...example, [member]: member.endsWith('s') ? [uri] : uri })
})

test('lengths and counts end where the server says', async t => {
  const api = await start(t)
  const many = (count: number, make: (i: number) => Json) => Array.from({ length: count }, (_, i) => make(i))
  const uri = (length: number) => 'https://a.example/'.padEnd(length, 'x')
  const [policy] = (find('createToken').body!.examples[0] as { policies: [Json] }).policies
  const bounds: readonly [id: string, member: string, good: Json, bad: Json][] = [
    ['createToken', 'name', 'n'.repeat(120), 'n'.repeat(121)],
    ['createToken', 'name', 'n \u00e9', 'n\u0000'],
    ['createToken', 'name', '\u{1f511}', 'n\n'],
    ['createToken', 'policies', many(50, () => policy), many(51, () => policy)],
    ['createToken', 'policies', [policy], []],
    ['createToken', 'condition', addresses('in', 200), addresses('in', 201)],
    ['createToken', 'condition', addresses('in', 1), addresses('in', 0)],
    ['createToken', 'condition', addresses('not_in', 0), addresses('not_in', 201)],
    ['updateAccount', 'name', 'n'.repeat(100), 'n'.repeat(101)],
    ['createMember', 'email', `${'a'.repeat(64)}@${'b'.repeat(63)}.example`, `a@${'b'.repeat(64)}.example`],
    ['createMember', 'email', 'a@b.example', `${'a.'.repeat(120)}a@${'b'.repeat(13)}`],
    ['createMember', 'roles', roles.map(({ id }) => id), []],
    ['createGateway', 'id', 'g'.repeat(64), 'g'.repeat(65)],
    ['createGateway', 'log_management', 10_000_000, 10_000_001],
    ['updateGateway', 'log_management', 0, -1],
    ['createGateway', 'default_max_tokens', 1_000_000, 1_000_001],
    ['updateGateway', 'unpriced_cost', 0.000000001, 0],
    ['createGateway', 'cache_ttl', 60, 59],
    ['updateGateway', 'cache_ttl', 0, 2_678_401],
    ['createGateway', 'spend_limits', spending(20, 60), spending(21, 60)],
    ['updateGateway', 'spend_limits', spending(1, 'month'), spending(1, 'year')],
    ['createToken', 'spend_limits', spending(5, 'day'), spending(6, 'day')],
    ['createOAuthClient', 'client_name', '\u{1f511}'.repeat(100), 'n'.repeat(101)],
    ['createOAuthClient', 'client_name', 'n \u00e9', 'n\n'],
    ['createOAuthClient', 'response_types', ['code'], ['code', 'code']],
    ['createOAuthClient', 'redirect_uris', ['http://localhost:1/'], ['http://localhosted/']],
    ['createOAuthClient', 'post_logout_redirect_uris', ['http://127.0.0.1'], ['http://127.0.0.1a/']],
    ['createOAuthClient', 'allowed_cors_origins', ['http://localhost'], ['http://localhost/']],
    ['createOAuthClient', 'allowed_cors_origins', ['http://[::1]:3000'], ['http://localhost.example']],
    ['createOAuthClient', 'redirect_uris', [uri(20), uri(21)], [uri(20), uri(20)]],
    ['createOAuthClient', 'redirect_uris', [uri(512)], [uri(513)]],
    ['createOAuthClient', 'redirect_uris', many(20, i => `${uri(20)}${i}`), many(21, i => `${uri(20)}${i}`)],
    ['createOAuthClient', 'post_logout_redirect_uris', [], many(21, i => `${uri(20)}${i}`)],
    [
      'updateOAuthClient',
      'allowed_cors_origins',
      ['https://a.example'],
      many(21, i => `https://a${i}.example`),
    ],
    ['createBudgetAlert', 'thresholds', [50, 95], [50, 95, 50]],
    ['createErrorRule', 'content', 'c'.repeat(10_240), 'c'.repeat(10_241)],
    ['createErrorRule', 'content', 'c', ''],
    ['createErrorRule', 'status_code', 400, 399],
    ['updateErrorRule', 'status_code', 999, 1000],
    ['updateErrorRule', 'description', 'd'.repeat(500), 'd'.repeat(501)],
    ['createAccessRule', 'ip', many(100, i => `10.0.0.${i}`), many(101, i => `10.0.0.${i}`)],
    ['updateAccessRule', 'ip', ['::/0'], []],
    ['previewError', 'accept', 'a'.repeat(8192), 'a'.repeat(8193)],
    ['previewError', 'asn', 4_294_967_295, 4_294_967_296],
    ['previewError', 'headers', headers(100), headers(101)],
    ['updateOAuthClient', 'policy_uri', uri(2048), uri(2049)],
    ['updateOAuthClient', 'scopes', ['user.read', 'ai_gateway.read'], ['offline_access']],
    ['updateOAuthClient', 'grant_types', ['authorization_code'], ['refresh_token']],
  ]
  for (const [id, member, good, bad] of bounds) {
    const operation = find(id)
    const example = operation.body!.examples[0] as Record<string, Json>
    assert.equal(await agree(api, operation, { ...example, [member]: good }), true, `${id} ${member}`)
    assert.equal(await agree(api, operation, { ...example, [member]: bad }), false, `${id} ${member}`)
  }

  function headers(count: number): Json {
    return Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, 'x']))
  }

  function spending(count: number, window: Json): Json {
    return { rules: many(count, i => ({ limit: i + 1, limitType: 'cost', window })) }
  }

  function addresses(name: string, count: number): Json {
    return { request_ip: { [name]: many(count, i => `10.0.0.${i}`) } }
  }
})
