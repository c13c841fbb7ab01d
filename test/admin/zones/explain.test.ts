import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { RateLimitConfig } from '../../../src/config/model/limit-config.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { Edge, edgeConfig, openAccess } from '../../help/edge.ts'
import { root } from '../../help/source.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { thorough } from '../../help/thorough.ts'
import { described, flawsOf } from '../openapi/openapi-document.ts'
import { allowing, startApi } from '../api.ts'
import { tokenWith } from '../../tokens/token-with.ts'
import type { Explanation } from '../../../src/zones/explanation.ts'
import { explanation, zoneWith } from './zones.ts'

const pem = readFileSync(join(root, 'test/golden/config/files/clients-ca.pem'), 'utf8')
const path = '/client/v4/zones/main/explain'
const plain = { host: 'shop.main.test', address: '203.0.113.7' }

test('a question is passed on as it would be sent, and answered', async t => {
  const { ask, given } = await startApi(t)
  const headers = { Accept: 'text/html', 'x-tag': ['one', 'two'] }
  const body = { ...plain, path: '//a b', method: 'PUT', headers, body_size: 3, client_certificate: pem }
  const response = await ask('POST', path, { body })
  assert.deepEqual([response.status, response.json.result], [200, JSON.parse(JSON.stringify(explanation))])
  const { account: _, ...asked } = given.asked!
  assert.deepEqual(asked, {
    zone: 'main',
    host: 'shop.main.test',
    address: '203.0.113.7',
    target: '//a b',
    method: 'PUT',
    headers: [
      ['Accept', 'text/html'],
      ['x-tag', 'one'],
      ['x-tag', 'two'],
    ],
    body: null,
    bodySize: 3,
    clientCertificate: pem,
  })
  await ask('POST', path, { body: plain })
  const { target, method, bodySize } = given.asked!
  assert.deepEqual([target, method, given.asked!.headers, bodySize], ['/', 'GET', [], null])
})

test('all mistakes of a question are told with their place', async t => {
  const { ask } = await startApi(t)
  const body = {
    address: 'nowhere',
    path: '/a\r\nHost: x',
    method: 'GET\n',
    headers: { 'a b': 'x', ok: 'a\rb' },
    body: 'x',
    body_size: 1,
    client_certificate: 'x',
    more: 1,
  }
  const { status, json } = await ask('POST', path, { body })
  assert.equal(status, 400)
  const places = json.errors.map((error: { source: { pointer: string } }) => error.source.pointer)
  assert.deepEqual(places.toSorted(), [
    '/address',
    '/body_size',
    '/client_certificate',
    '/headers/a b',
    '/headers/ok',
    '/host',
    '/method',
    '/more',
    '/path',
  ])
})

test('explanations for another zone or account are refused', async t => {
  const { ask, given } = await startApi(t)
  const refusalFor = async (explained: typeof given.explained) => {
    given.explained = explained
    const { status, json, headers } = await ask('POST', path, { body: plain })
    return [status, json.errors[0].code, json.errors[0].message, headers.get('retry-after')]
  }
  assert.deepEqual(await refusalFor({ elsewhere: 'zone' }), [
    400,
    10001,
    'host must lead to the zone main, or to none',
    null,
  ])
  assert.deepEqual(await refusalFor({ elsewhere: 'account' }), [
    400,
    10001,
    'path must name the account that owns the zone',
    null,
  ])
  assert.deepEqual(await refusalFor(null), [
    503,
    10503,
    'No process of the gateway serves requests: retry later',
    '1',
  ])
})

test('explanations reveal nothing that the caller cannot see elsewhere', async t => {
  const { ask, keepToken, given } = await startApi(t)
  const limit = {
    ...{ line: 7, action: 'block', verdict: 'over', limit: 731, period: '60 s', key: [] },
    ...{ used: 731, left: 0, resets_in: 53 },
  }
  const rule = { ...explanation.steps[0]!.rule!, kind: 'quota', name: 'main:day' }
  const step = {
    ...{
      ...explanation.steps[0]!,
      step: 'meter',
      reason: 'Over the limit main:day; retry after 53 s.',
      rule,
    },
    compared: [{ what: 'main:day', value: '731 used', with: '731' }],
  }
  const content = { source: 'zone_rule', rule_id: '1', line: null, page: null, description: 'ours' }
  const route = { path: '/', line: 3, pool: 'shop', body_limit: 1, redirects: 0, timeouts: {} }
  given.explained = {
    explanation: {
      ...explanation,
      steps: [step],
      limits: [
        { ...limit, kind: 'quota', name: 'main:day' },
        { ...limit, kind: 'gateway_rate_limit', name: 'gateway' },
      ],
      route: { ...route, retries: { most: 0, statuses: [] } },
      compression: { encoding: null, reason: 'off', condition: null },
      response: { status: 429, content_type: 'text/html', retry_after: 53, content },
    } as Explanation,
  }
  const shownTo = async (...permissions: Parameters<typeof keepToken>[0]) => {
    const token = await keepToken(permissions)
    const { status, json } = await ask('POST', path, { body: plain, token: token.value })
    assert.equal(status, 200)
    const { pool, forward, gateway, route, compression, limits, steps, response } = json.result as Explanation
    const parts = { pool, forward, gateway, route, compression, content: response!.content }
    const told = [response!.retry_after, /53/.test(steps[0]!.reason), steps[0]!.compared[0]!.value]
    return [
      ...Object.entries(parts).flatMap(([name, part]) => (part === null ? [] : [name])),
      ...limits.map(({ kind, used }) => `${kind} ${used}`),
      ...(told.every(Boolean) ? ['use'] : told.some(Boolean) ? ['some use'] : []),
    ]
  }
  const own = 'Access Rules Read'
  assert.deepEqual(await shownTo(own), [])
  assert.deepEqual(await shownTo(own, 'Origins Read'), ['pool', 'forward'])
  assert.deepEqual(await shownTo(own, 'AI Gateway Read'), ['gateway', 'gateway_rate_limit 731'])
  assert.deepEqual(await shownTo(own, 'Custom Errors Read'), ['content'])
  assert.deepEqual(await shownTo(own, 'Zones Read'), ['route', 'compression', 'quota 731', 'use'])
  const { value: token } = await keepToken(['Origins Read', 'Zones Read'])
  assert.equal((await ask('POST', path, { body: plain, token })).status, 403)
})

test('what a gateway has spent is told to those who may see gateways', async t => {
  const { ask, keepToken, given } = await startApi(t)
  const error = { code: 1015, name: 'rate_limited', title: 'Rate limited', message: 'Spent $4.99 of $5.00.' }
  const [before] = explanation.steps
  const reserve = {
    ...{ ...before!, step: 'reserve', title: 'Spend limits', verdict: 'refuses' },
    ...{ reason: 'Spent $4.99 of $5.00.', rule: null, compared: [], error },
  }
  const response = { status: 429, content_type: 'application/json', retry_after: 53, content: null }
  given.explained = { explanation: { ...explanation, steps: [reserve], response } as Explanation }
  const shownTo = async (...permissions: Parameters<typeof keepToken>[0]) => {
    const { value: token } = await keepToken(permissions)
    const { json } = await ask('POST', path, { body: plain, token })
    const { steps, response } = json.result as Explanation
    return [steps[0]!.reason, steps[0]!.error!.message, response!.retry_after]
  }
  const own = ['Access Rules Read', 'Zones Read'] as const
  assert.deepEqual(await shownTo(...own), ['Over a spend limit.', null, null])
  assert.deepEqual(await shownTo(...own, 'AI Gateway Read'), [reserve.reason, error.message, 53])
})

test('how far limits of all zones are used is shown to the oldest account alone, and what they decide to all', async t => {
  const { ask, given, kept } = await startApi(t)
  const theirs = 'b'.repeat(32)
  const shared: RateLimitConfig = {
    ...{ name: 'shared', limit: 731, period: 60_000, key: [{ by: 'address' }], when: null, action: 'block' },
  }
  await kept.accounts.insert({ id: theirs, name: 'other', createdAt: 1 })
  given.configs.push(zoneWith({ name: 'theirs', account: theirs }))
  given.ofAll = { ...given.ofAll, rateLimits: [shared] }
  const limitOf = (name: string, verdict: 'within' | 'over') => ({
    ...{ kind: 'rate_limit', name, line: 7, action: 'block', verdict, limit: 731, period: '60 s' },
    ...{ key: [{ by: 'address', value: '203.0.113.7' }], used: 419, left: 312, resets_in: 53 },
  })
  const [before] = explanation.steps
  const metered = {
    ...{ ...before!, number: 2, step: 'meter', title: 'Rate limits and quotas' },
    reason: 'Over the limit shared; retry after 53 s.',
    rule: { ...before!.rule!, kind: 'rate_limit', name: 'shared' },
    compared: [
      { what: 'shared', value: '419 used', with: '731' },
      { what: 'own', value: '419 used', with: '731' },
    ],
  }
  given.explained = {
    explanation: {
      ...explanation,
      steps: [before!, metered],
      limits: [limitOf('shared', 'over'), limitOf('own', 'within')],
      response: { status: 429, content_type: 'text/html', retry_after: 53, content: null },
    } as Explanation,
  }
  const everywhere = tokenWith({ policies: [allowing(['Access Rules Read', 'Zones Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  const shownOf = async (zone: string) => {
    const token = everywhere.value
    const { json } = await ask('POST', `/client/v4/zones/${zone}/explain`, { body: plain, token })
    return json.result as Explanation
  }
  const all = await shownOf('main')
  assert.deepEqual([all.limits[0]!.used, all.response!.retry_after], [419, 53])
  assert.equal(all.steps[1]!.reason, metered.reason)
  const { limits, steps, response } = await shownOf('theirs')
  const [ofAll, own] = limits
  assert.deepEqual(ofAll, { ...limitOf('shared', 'over'), used: null, left: null, resets_in: null })
  assert.deepEqual(own, limitOf('own', 'within'))
  assert.deepEqual([steps[1]!.reason, response!.retry_after], ['Over the limit shared.', null])
  assert.deepEqual(steps[1]!.compared, [{ ...metered.compared[0]!, value: null }, metered.compared[1]])
})

const lines = fc.oneof(
  fc.constantFrom('/', '/admin', '*', 'http://x.main.test/a', '', ' ', 'GET', '/a//b;c'),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: anyCharacter, maxLength: 10 }),
)

test('no question upsets the gateway: it is explained as documented, or refused', {
  timeout: 120_000,
}, async t => {
  const { ask, given } = await startApi(t)
  const origin = await startResponder(t, ok())
  const config = edgeConfig([origin.url], {
    zone: {
      name: 'main',
      hosts: ['*.main.test'],
      isDefault: true,
      access: {
        ...openAccess,
        rules: [
          {
            action: 'deny',
            condition: {
              kind: 'expression',
              text: 'request.path.startsWith("/admin") || request.headers["x"][0] == "y"',
            },
            description: null,
          },
        ],
      },
    },
    ai: { hosts: ['ai.test'] },
    trustedProxies: ['192.0.2.0/24'],
  })
  const edge = new Edge(t, config)
  t.after(() => edge.plane.destroy())
  const operation = described.find(({ id }) => id === 'explainRequest')!
  given.explain = asked => edge.plane.explain(asked)
  const bodies = fc.record(
    {
      host: fc.oneof(fc.constantFrom('a.main.test', '[::1]'), lines),
      address: fc.constantFrom('203.0.113.7', '2001:db8::1', '192.0.2.1', '::ffff:1.2.3.4', 'x'),
      path: lines,
      method: lines,
      headers: fc.dictionary(
        fc.oneof(
          fc.constantFrom(
            'Accept',
            'x',
            'X-Forwarded-For',
            'Content-Length',
            'Transfer-Encoding',
            'Expect',
            'Upgrade',
            'Connection',
          ),
          lines,
        ),
        fc.oneof(lines, fc.array(lines, { maxLength: 3 })),
        { maxKeys: 4 },
      ),
      body: fc.string({ maxLength: 20 }),
      body_size: fc.oneof(fc.integer({ min: -1, max: 2 ** 41 }), fc.constant('1')),
      unknown: fc.constant(1),
    },
    { requiredKeys: ['host', 'address'] },
  )
  const seen = new Set<number>()
  const accepted = { host: 'a.main.test', address: '203.0.113.7' } as const
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 9, arbitrary: bodies }, { weight: 1, arbitrary: fc.json() }),
      async body => {
        const text = typeof body === 'string' ? body : JSON.stringify(body)
        const response = await ask('POST', path, {
          body: text,
          headers: { 'content-type': 'application/json' },
        })
        seen.add(response.status)
        assert.ok([200, 400].includes(response.status), `${response.status} ${text}`)
        const shown = new Response(null, { status: response.status, headers: response.headers })
        assert.equal(flawsOf(operation, shown, JSON.stringify(response.json)), '', text)
      },
    ),
    { numRuns: thorough(400, 100), examples: [[accepted], [{ ...accepted, unknown: 1 }]] },
  )
  assert.deepEqual([...seen].toSorted(), [200, 400])
  assert.equal(origin.requests.length, 0)
})
