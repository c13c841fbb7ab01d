import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { GeoDatabases } from '../../../src/access/files/geo.ts'
import { AddressLists } from '../../../src/access/files/lists.ts'
import type { AccessCondition, AccessRule, BanConfig } from '../../../src/config/model/access-config.ts'
import type { Config, RouteConfig } from '../../../src/config/model/config.ts'
import type { LimitKey, RateLimitConfig } from '../../../src/config/model/limit-config.ts'
import { headBytes } from '../../../src/edge/explain/request-bytes.ts'
import { steps } from '../../../src/edge/serve/steps.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import type { DecidingRule, Explanation, RequestInQuestion } from '../../../src/zones/explanation.ts'
import { watchedFolder } from '../../access/watched-folder.ts'
import { call, json, startAi } from '../../help/ai.ts'
import { costOf, hasty, prices, rule, spentOf } from '../../help/budgeted.ts'
import { block, limit, policy } from '../../budgets/policies/specimens.ts'
import { usualCompression } from '../../help/codings.ts'
import { ManualClock, patient } from '../../help/clock.ts'
import { Edge, edgeConfig, listenAt, openAccess, startEdge, zoneTo } from '../../help/edge.ts'
import { gateOf } from '../../help/issuer.ts'
import { mmdb } from '../../help/mmdb.ts'
import { ok, startResponder } from '../../help/origin.ts'
import { chunks, request } from '../../help/raw.ts'
import { anyone, startGatedSite } from '../../help/site-sessions.ts'
import { thorough } from '../../help/thorough.ts'
import { until } from '../../help/until.ts'

const question: RequestInQuestion = {
  zone: 'site',
  account: '0'.repeat(32),
  method: 'GET',
  target: '/',
  host: 'site.test',
  headers: [],
  address: '127.0.0.1',
  body: null,
  bodySize: null,
  clientCertificate: null,
}

/** Asks what would happen; the request must be about the zone. */
async function explain(edge: Edge, asked: Partial<RequestInQuestion> = {}): Promise<Explanation> {
  const explained = await edge.plane.explain({ ...question, ...asked })
  assert.ok('explanation' in explained, JSON.stringify(explained))
  return explained.explanation
}

function stepOf({ steps }: Explanation, name: string) {
  return steps.find(({ step }) => step === name)!
}

const conditions: fc.Arbitrary<AccessCondition> = fc.oneof(
  fc.constantFrom<AccessCondition>(
    { kind: 'ip', networks: ['127.0.0.0/30'] },
    { kind: 'ip', networks: ['127.0.0.5', '192.0.2.1'] },
    { kind: 'list', name: 'bad' },
    { kind: 'country', countries: ['DE'] },
    { kind: 'asn', numbers: [64_500] },
    { kind: 'user_agent', patterns: ['*bot*'] },
    { kind: 'user_agent', patterns: [''] },
    { kind: 'referer', hosts: ['*.evil.test'] },
    { kind: 'referer_not', hosts: ['site.test', '*.site.test'] },
    { kind: 'path', prefixes: ['/admin'] },
    { kind: 'path', prefixes: ['/api/v1', '/a/b'] },
    { kind: 'expression', text: 'request.headers["referer"][0].contains("evil")' },
    { kind: 'expression', text: 'request.method == "POST" && request.path.startsWith("/a")' },
    { kind: 'expression', text: 'request.host.endsWith(".site.test") && request.country == "SE"' },
  ),
)

const rules: fc.Arbitrary<AccessRule> = fc.record({
  action: fc.constantFrom('allow', 'deny', 'legal'),
  condition: conditions,
  description: fc.constantFrom(null, 'a word'),
})

const limits: fc.Arbitrary<Omit<RateLimitConfig, 'name'>> = fc.record({
  limit: fc.integer({ min: 1, max: 6 }),
  period: fc.constant(3_600_000),
  key: fc.uniqueArray(
    fc.constantFrom<LimitKey>(
      { by: 'address' },
      { by: 'path' },
      { by: 'token' },
      { by: 'header', name: 'x-key' },
    ),
    { maxLength: 2 },
  ),
  when: fc.constantFrom(null, 'request.method == "POST"', 'request.path.startsWith("/a")'),
  action: fc.constantFrom('block', 'log'),
})

const requests: fc.Arbitrary<RequestInQuestion> = fc.record({
  zone: fc.constant('site'),
  account: fc.constant(question.account),
  method: fc.constantFrom(
    'GET',
    'GET',
    'GET',
    'HEAD',
    'POST',
    'post',
    'TRACE',
    'PURGE',
    'CONNECT',
    'OPTIONS',
  ),
  target: fc.constantFrom(
    '/',
    '/a//b',
    '/a/b?x=1',
    '/a/%62',
    '/admin',
    '/x/../admin',
    '/x;y/admin',
    '/x%2f..%2fadmin',
    '/API',
    '/api',
    '/api/v1/x',
    '/api//v1',
    '/apix',
    '/a//b;c\\d%2fe',
    '/cdn-cgi/error/1020',
    '/cdn-cgi/error/nothing',
    'http://site.test/admin?q',
    'http://www.site.test/a',
    'http://nowhere.test/a',
    'https://site.test/a',
    '*',
    '/with space',
    'no-slash',
    `/${'x'.repeat(600)}`,
  ),
  host: fc.constantFrom(
    'site.test',
    'site.test',
    'SITE.test:8080',
    'www.site.test',
    'a.b.site.test.',
    'nowhere.test',
    '127.0.0.1',
    '[::1]',
    'bad host',
    '',
    null,
  ),
  headers: fc.subarray(
    [
      ['Accept', 'application/json'],
      ['Accept', 'text/html'],
      ['User-Agent', 'Some Bot/1.0'],
      ['Referer', 'https://www.evil.test/x'],
      ['Referer', 'https://shop.site.test/x'],
      ['X-Forwarded-For', '192.0.2.1'],
      ['X-Forwarded-For', '2001:db8::1'],
      ['X-Forwarded-Proto', 'https'],
      ['Authorization', 'Bearer secret-token'],
      ['X-Key', 'secret-key'],
      ['Expect', 'nonsense'],
      ['CDN-Loop', 'gatehouse'],
      ['Host', 'other.test'],
      ['Transfer-Encoding', 'gzip'],
      ['X-Long', 'x'.repeat(3000)],
    ] as const,
    { maxLength: 4 },
  ),
  address: fc.constantFrom('127.0.0.1', '127.0.0.5', '127.0.0.9', '127.0.0.77'),
  body: fc.constantFrom(null, null, null, '', 'hello', 'x'.repeat(60)),
  bodySize: fc.constant(null),
  clientCertificate: fc.constant(null),
})

interface Given {
  readonly all: readonly AccessRule[]
  readonly zone: readonly AccessRule[]
  readonly otherwise: 'allow' | 'deny'
  readonly ban: BanConfig | null
  readonly limits: readonly Omit<RateLimitConfig, 'name'>[]
  readonly paused: boolean
  readonly isDefault: boolean
  readonly quota: number | null
}

const settings: fc.Arbitrary<Given> = fc.record({
  all: fc.array(rules, { maxLength: 2 }),
  zone: fc.array(rules, { maxLength: 4 }),
  otherwise: fc.constantFrom('allow', 'allow', 'deny'),
  ban: fc.constantFrom(null, { refusals: 3, within: 3_600_000, lasts: 3_600_000 }),
  limits: fc.array(limits, { maxLength: 3 }),
  paused: fc.constantFrom(false, false, false, true),
  isDefault: fc.boolean(),
  quota: fc.constantFrom(null, null, 4),
})

const open: Given = {
  all: [],
  zone: [],
  otherwise: 'allow',
  ban: null,
  limits: [],
  paused: false,
  isDefault: false,
  quota: null,
}
const limited: Given = {
  ...open,
  limits: [{ limit: 1, period: 3_600_000, key: [], when: null, action: 'block' }],
}
const guarded: Given = {
  ...open,
  zone: [{ action: 'deny', condition: { kind: 'path', prefixes: ['/admin'] }, description: null }],
}

/** Starts an edge that trusts 127.0.0.9, with a list and a database. */
async function startAny(t: TestContext) {
  const folder = watchedFolder(t)
  const lists = new AddressLists(folder)
  const geo = new GeoDatabases(folder)
  t.after(() => {
    lists.close()
    geo.close()
  })
  const bad = await lists.open([
    { name: 'bad', path: folder.write('bad.txt', '127.0.0.77\n2001:db8::/32\n') },
  ])
  const places = mmdb({
    '192.0.2.0/24': { country: { iso_code: 'DE' }, autonomous_system_number: 64_500 },
    '2001:db8::/32': { country: { iso_code: 'SE' } },
  })
  const known = await geo.open([folder.write('geo.mmdb', places)])
  const origin = await startResponder(t, ok())
  const base = edgeConfig([origin.url], {
    trustedProxies: ['127.0.0.9'],
    limits: { url: 512, headerSection: 2048 },
  })
  const edge = await listenAt(t, new Edge(t, base, { access: { lists: bad, geo: known } }))
  return { edge, base, origin }
}

/** Writes what the access log says of a rule. */
function causeOf(rule: DecidingRule | null): string | null {
  if (rule === null) return null
  const whose = rule.zone === null ? 'of all zones' : `of ${rule.zone}`
  switch (rule.kind) {
    case 'access_rule': {
      const place = `access rule ${rule.number} ${whose}`
      return rule.description === null ? place : `${place}: ${rule.description}`
    }
    case 'access_default':
      return `default ${whose}`
    case 'ban':
      return `ban ${whose}`
    case 'rate_limit':
      return `rate limit ${rule.name}`
    case 'quota':
      return `quota ${rule.name}`
    default:
      return null
  }
}

function configOf(base: Config, given: Given, run: number): Config {
  const [site] = base.zones
  const [route] = site!.routes
  const rateLimits = given.limits.map((limit, i) => ({ ...limit, name: `limit-${run}-${i}` }))
  const rewrite = {
    path: '"/new" + request.path',
    requestHeaders: [{ name: 'X-Ip', value: 'request.ip' }],
    responseHeaders: [],
  }
  const routes: RouteConfig[] = [
    { ...route!, bodyLimit: 50 },
    { ...route!, path: '/api', rateLimits: rateLimits.slice(2), rewrite },
    { ...route!, path: '/api/v1', pool: null },
  ]
  const zone = {
    ...site!,
    name: 'site',
    hosts: ['site.test', '*.site.test'],
    isDefault: given.isDefault,
    paused: given.paused,
    access: { rules: given.zone, otherwise: given.otherwise, ban: given.ban },
    rateLimits: rateLimits.slice(0, 2),
    quota: { day: given.quota, month: null },
    routes: run % 3 === 0 ? routes : routes.slice(0, 1),
  }
  const other = { ...site!, name: 'other', hosts: ['other.test'] }
  return { ...base, access: { ...openAccess, rules: given.all }, zones: [zone, other] }
}

test('a request gets what its explanation has foretold', { timeout: 180_000 }, async t => {
  const { edge, base, origin } = await startAny(t)
  let run = 0
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(settings, fc.array(requests, { minLength: 8, maxLength: 16 }), async (given, asked) => {
      edge.reload(configOf(base, given, run++))
      for (const one of asked) {
        const explained = await edge.plane.explain(one)
        if (!('explanation' in explained)) {
          assert.ok(one.headers.some(([name]) => name === 'Host'))
          continue
        }
        const { explanation } = explained
        assert.deepEqual(stable(await explain(edge, one)), stable(explanation), 'asking moves nothing')
        seen.add(await foretold(edge, one, explanation, origin.requests))
      }
    }),
    {
      numRuns: thorough(200, 25),
      // What must be seen is left to no chance.
      examples: [
        [limited, [question, question]],
        [guarded, [{ ...question, target: '/admin' }]],
        [open, [{ ...question, method: 'POST', body: 'x'.repeat(60) }]],
      ],
    },
  )
  for (const must of ['forwarded', 'firewall_rule_blocked', 'rate_limited', 'content_too_large'])
    assert.ok(seen.has(must), `${must} among ${[...seen]}`)
})

/** Leaves out times, which run on between two questions. */
function stable({ limits, ...rest }: Explanation): unknown {
  const counts = limits.map(({ resets_in: _, ...limit }) => limit)
  return JSON.parse(JSON.stringify({ ...rest, counts }).replace(/\b\d+ s\b|(?<="retry_after":)\d+/g, '0'))
}

/** Sends the request and compares; returns the outcome, or the name of the error. */
async function foretold(
  edge: Edge,
  asked: RequestInQuestion,
  explanation: Explanation,
  received: readonly { readonly startLine: string }[],
): Promise<string> {
  const before = received.length
  const logged = edge.accesses.length
  const client = await edge.connect(asked.address)
  await client.send(`${headBytes(asked).toString('latin1')}${asked.body ?? ''}`)
  const response = await client.response(asked.method)
  client.leave()
  const entry = edge.accesses[logged]!
  const story = `${JSON.stringify(asked)} ${JSON.stringify(explanation.steps)}`
  const { outcome, forward } = explanation
  if (outcome === 'forwarded') {
    assert.deepEqual([response.status, entry.error], [200, null], story)
    const [method, target] = received.at(-1)!.startLine.split(' ')
    assert.equal(received.length, before + 1)
    assert.deepEqual([forward!.method, forward!.path], [method, target!.split('?')[0]])
    return outcome
  }
  assert.equal(outcome, 'refused')
  assert.equal(received.length, before)
  const step = explanation.steps.find(({ verdict }) => verdict === 'refuses')!
  const isPreview = step.step === 'preview' && step.error!.name !== 'not_found'
  assert.deepEqual([entry.preview, entry.error], [isPreview, isPreview ? null : step.error!.name], story)
  assert.equal(explanation.response!.status, response.status, story)
  assert.equal(explanation.response!.content_type, response.field('content-type'))
  const cause = causeOf(step.rule)
  if (cause !== null) assert.equal(cause, entry.cause, story)
  return step.error!.name
}

test('an explanation has all steps, numbered in their order', async t => {
  const explanation = await explain(await startEdge(t, []))
  assert.deepEqual(
    explanation.steps.map(({ number, step, title }) => [number, step, title]),
    steps.map(({ name, title }, i) => [i + 1, name, title]),
  )
})

const noAdmin: AccessRule = {
  action: 'deny',
  condition: { kind: 'path', prefixes: ['/admin'] },
  description: null,
}

test('asking counts nothing, bans nobody, logs nothing and reaches no origin', async t => {
  const origin = await startResponder(t, ok())
  const metrics = new Metrics('0')
  const rateLimit = { name: 'few', limit: 2, period: 60_000, key: [], when: null, action: 'block' } as const
  const config = edgeConfig([origin.url], {
    zone: {
      access: { ...openAccess, rules: [noAdmin], ban: { refusals: 2, within: 60_000, lasts: 60_000 } },
      rateLimits: [rateLimit],
      quota: { day: 3, month: null },
    },
  })
  const edge = await listenAt(t, new Edge(t, config, { metrics: metrics.edge }))
  const counted = async () => (await metrics.expose()).replace(/^((process|nodejs)_|#).*\n/gm, '')
  const before = await counted()
  for (let i = 0; i < 5; i++) {
    assert.equal((await explain(edge)).outcome, 'forwarded')
    assert.equal((await explain(edge, { target: '/admin' })).response!.status, 403)
    assert.equal((await explain(edge, { target: '/cdn-cgi/error/522' })).response!.status, 522)
  }
  assert.equal(await counted(), before)
  assert.deepEqual([edge.accesses, edge.events, edge.tallies, origin.requests.length], [[], [], [], 0])
  assert.deepEqual(await edge.plane.limiter.nearest(), [])
  assert.equal((await edge.ask(request('GET /'))).status, 200)
})

test('a ban is explained with what is left of it', async t => {
  const clock = new ManualClock()
  const ban = { refusals: 2, within: 10_000, lasts: 60_000 }
  const access = { ...openAccess, rules: [noAdmin], ban }
  const edge = await listenAt(t, new Edge(t, edgeConfig([], { ...patient, zone: { access } }), { clock }))
  for (let i = 0; i < 2; i++) await edge.ask(request('GET /admin'))
  clock.advance(15_000)
  const step = stepOf(await explain(edge), 'admit')
  assert.deepEqual([step.verdict, step.error!.code, step.rule!.kind], ['refuses', 1012, 'ban'])
  assert.equal(step.reason, '127.0.0.1 is banned by the rules of site for 45 s more.')
  assert.equal(stepOf(await explain(edge, { address: '127.0.0.2' }), 'admit').verdict, 'passes')
})

test('limits tell their key, what is used and what is left, and never a token or a field', async t => {
  const origin = await startResponder(t, ok())
  const limit = { limit: 3, period: 60_000, when: null, action: 'block' } as const
  const rateLimits: RateLimitConfig[] = [
    { ...limit, name: 'login', key: [{ by: 'address' }, { by: 'path' }], line: 7 },
    { ...limit, name: 'keys', key: [{ by: 'token' }], action: 'log', limit: 1 },
    { ...limit, name: 'field', key: [{ by: 'header', name: 'x-key' }] },
  ]
  const edge = await startEdge(t, [origin.url], { zone: { rateLimits, quota: { day: 10, month: null } } })
  const headers = [
    ['Authorization', 'Bearer the-secret'],
    ['X-Key', 'the-secret'],
  ] as const
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  for (let i = 0; i < 2; i++) assert.equal((await edge.ask(request('GET /a', ...lines))).status, 200)
  const explanation = await explain(edge, { target: '/a?b', headers })
  assert.doesNotMatch(JSON.stringify(explanation), /the-secret/)
  assert.deepEqual(
    explanation.limits.map(({ resets_in: _, ...limit }) => limit),
    [
      {
        kind: 'rate_limit',
        name: 'login',
        line: 7,
        action: 'block',
        verdict: 'within',
        key: [
          { by: 'address', value: '127.0.0.1' },
          { by: 'path', value: '/a' },
        ],
        limit: 3,
        period: '60 s',
        used: 2,
        left: 1,
      },
      { ...tokenLimit, key: [{ by: 'token', value: null }] },
      { ...fieldLimit, key: [{ by: 'header x-key', value: null }] },
      { ...quotaOfDay },
    ].toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
  )
  assert.equal((await edge.ask(request('GET /a', ...lines))).status, 200)
  const over = await explain(edge, { target: '/a', headers })
  const { verdict, rule, error, reason } = stepOf(over, 'meter')
  assert.deepEqual([verdict, error!.code, rule!.name, rule!.line], ['refuses', 1015, 'login', 7])
  assert.match(reason, /^Over the limit login; retry after \d+ s\.$/)
  assert.equal(over.response!.status, 429)
  assert.ok(over.response!.retry_after! > 0)
})

const order = ['login', 'keys', 'field', 'site:day']
const tokenLimit = {
  kind: 'rate_limit',
  name: 'keys',
  line: null,
  action: 'log',
  verdict: 'over',
  limit: 1,
  period: '60 s',
  used: 1,
  left: 0,
}
const fieldLimit = {
  kind: 'rate_limit',
  name: 'field',
  line: null,
  action: 'block',
  verdict: 'within',
  limit: 3,
  period: '60 s',
  used: 2,
  left: 1,
}
const quotaOfDay = {
  kind: 'quota',
  name: 'site:day',
  line: null,
  action: 'block',
  verdict: 'within',
  key: [],
  limit: 10,
  period: 'day',
  used: 2,
  left: 8,
}

for (const by of ['round_robin', 'least_outstanding', 'hash'] as const) {
  test(`the origin that comes next is known before: ${by}`, async t => {
    const origins = [
      await startResponder(t, ok()),
      await startResponder(t, ok()),
      await startResponder(t, ok()),
    ]
    const balance = by === 'hash' ? ({ by, header: 'x-user' } as const) : { by }
    const pool = { balance, weights: [1, 3, 2] }
    const edge = await startEdge(
      t,
      origins.map(({ url }) => url),
      { pool },
    )
    for (let i = 0; i < 8; i++) {
      const headers = [['X-User', `user ${i}`]] as const
      await explain(edge, { headers })
      const next = (await explain(edge, { headers })).pool!.origins.filter(({ is_next }) => is_next)
      assert.equal(next.length, 1)
      const counts = origins.map(({ requests }) => requests.length)
      await edge.ask(request('GET /', `X-User: user ${i}`))
      const went = origins.findIndex(({ requests }, at) => requests.length > counts[at]!)
      assert.equal(origins[went]!.url, next[0]!.url)
    }
  })
}

test('an origin that is ejected is not next, and without any the request is refused', async t => {
  const good = await startResponder(t, ok())
  const bad = await startResponder(t, `HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`)
  const pool = { ejectOn: [500], ejection: { failures: 1, base: 60_000, longest: 60_000 } }
  const edge = await startEdge(t, [good.url, bad.url], { pool })
  for (let i = 0; i < 2; i++) await edge.ask(request('GET /'))
  for (let i = 0; i < 2; i++)
    assert.deepEqual(
      (await explain(edge)).pool!.origins.map(({ state, share, is_next }) => [state, share, is_next]),
      [
        ['healthy', 1, true],
        ['ejected', 0, false],
      ],
    )
})

test('rewrites are shown without constant values, which may be secrets', async t => {
  const origin = await startResponder(t, ok())
  const rewrite = {
    path: '"/new" + request.path + "?key=the-secret"',
    requestHeaders: [
      { name: 'X-Ip', value: 'request.ip' },
      { name: 'X-Origin-Key', value: '"the-secret"' },
      { name: 'Cookie', value: null },
    ],
    responseHeaders: [
      { name: 'Server', value: null },
      { name: 'X-Served', value: '"the-secret"' },
    ],
  }
  const edge = await startEdge(t, [origin.url], {
    route: { rewrite, host: { name: 'inner.test' }, line: 12 },
  })
  const headers = [
    ['Cookie', 'a=the-secret'],
    ['Authorization', 'Basic the-secret'],
  ] as const
  const explanation = await explain(edge, { target: '/a?b=1', headers, address: '203.0.113.7' })
  assert.doesNotMatch(JSON.stringify(explanation), /the-secret/)
  const { forward, route } = explanation
  assert.equal(route!.line, 12)
  assert.deepEqual(
    [forward!.http, forward!.host, forward!.path, forward!.query],
    ['1', 'inner.test', '/new/a', 'changed'],
  )
  const shown = Object.fromEntries(forward!.fields.map(({ name, change, value }) => [name, [change, value]]))
  assert.deepEqual(shown['X-Ip'], ['added', '203.0.113.7'])
  assert.deepEqual(shown['X-Origin-Key'], ['added', null])
  assert.deepEqual(shown.cookie, ['removed', null])
  assert.deepEqual(shown['X-Forwarded-For'], ['added', '203.0.113.7'])
  assert.deepEqual(forward!.response_fields, [
    { name: 'Server', change: 'removed' },
    { name: 'X-Served', change: 'set' },
  ])
})

test('compression is explained as it is done, with what depends on the response', async t => {
  const text = 'text '.repeat(1000)
  const origin = await startResponder(t, ok(text, 'Content-Type: text/plain'))
  const edge = await startEdge(t, [origin.url], { route: { compression: usualCompression } })
  const cases = [
    [[], null, /no Accept-Encoding/],
    [[['Accept-Encoding', 'gzip, br']], 'br', /depends on the response/],
    [[['Accept-Encoding', 'br;q=0.5, gzip']], 'gzip', /depends on the response/],
    [[['Accept-Encoding', 'deflate']], null, /prefers none of zstd, br, gzip/],
    [[['Accept-Encoding', 'gzip;q=0']], null, /prefers none of zstd, br, gzip/],
    [
      [
        ['Accept-Encoding', 'zstd'],
        ['Cache-Control', 'no-transform'],
      ],
      null,
      /no-transform/,
    ],
  ] as const
  for (const [headers, encoding, why] of cases) {
    const { compression } = await explain(edge, { headers })
    assert.equal(compression!.encoding, encoding)
    assert.match(compression!.reason, why)
    const { types, minimum } = usualCompression
    assert.deepEqual(compression!.condition, encoding && { types, minimum })
    const lines = headers.map(([name, value]) => `${name}: ${value}`)
    const response = await edge.ask(request('GET /', ...lines))
    assert.equal(response.field('content-encoding'), encoding, why.source)
  }
  const { compression } = await explain(await startEdge(t, [origin.url]), { headers: cases[1][0] })
  assert.deepEqual(compression, { encoding: null, reason: 'Off for this route.', condition: null })
})

test("the operator's content for the error is named", async t => {
  const json = {
    expression: 'response.code == 403 && request.path == "/admin/x"',
    content: '{}',
    contentType: 'application/json',
    status: 418,
    description: 'For tea',
    line: 30,
  } as const
  const errors = { rules: [json], pages: { waf_block: '<p>No.</p>' } }
  const edge = await startEdge(t, [], { zone: { access: { ...openAccess, rules: [noAdmin] }, errors } })
  const ruled = (await explain(edge, { target: '/admin/x' })).response!
  assert.deepEqual([ruled.status, ruled.content_type], [418, 'application/json'])
  assert.deepEqual(ruled.content, {
    source: 'zone_rule',
    rule_id: null,
    line: 30,
    page: null,
    description: 'For tea',
  })
  const paged = (await explain(edge, { target: '/admin' })).response!
  assert.deepEqual(
    [paged.status, paged.content!.source, paged.content!.page],
    [403, 'zone_page', 'waf_block'],
  )
})

test('a request that leads to another zone is not explained', async t => {
  const other = { ...edgeConfig([]).zones[0]!, name: 'other', hosts: ['other.test'] }
  const edge = await startEdge(t, [], { zones: [other], ai: { hosts: ['ai.test'] } })
  assert.deepEqual(await edge.plane.explain({ ...question, host: 'other.test' }), { elsewhere: 'zone' })
  const target = `/v1/${'1'.repeat(32)}/default/openai/v1/models`
  const asked = { ...question, host: 'ai.test', target }
  assert.deepEqual(await edge.plane.explain(asked), { elsewhere: 'account' })
})

test('a path in other letters than those of a gate is explained by the route that it could be for', async t => {
  const [root] = edgeConfig([(await startResponder(t, ok('site'))).url]).zones[0]!.routes
  const routes = [root!, { ...root!, path: '/admin', protect: [gateOf('http://127.0.0.1:9')] }]
  const edge = await startEdge(t, [], { zone: { routes } })
  const explained = await explain(edge, { target: '/Admin/x?a' })
  assert.partialDeepStrictEqual(stepOf(explained, 'locate'), {
    verdict: 'refuses',
    reason: 'Origins may read the path as different routes.',
    compared: [
      { what: 'host', value: 'site.test', with: 'site.test' },
      { what: 'path', value: '/Admin/x', with: '/' },
      { what: 'path in other letters', value: '/Admin/x', with: '/admin' },
    ],
  })
  assert.equal((await explain(edge, { target: '/administrators' })).outcome, 'forwarded')
})

test('a call to a short route is explained once its account turns out to be the one in question', async t => {
  const ai = await startAi(t, { openai: (await startResponder(t, ok('{}'))).url })
  const target = '/v1/chat/completions'
  const asked = { ...question, host: 'ai.test', method: 'POST', target, bodySize: 9 }
  const headers = [['x-api-key', ai.token]] as const
  assert.deepEqual(await ai.edge.plane.explain(asked), { elsewhere: 'account' })
  assert.deepEqual(await ai.edge.plane.explain({ ...asked, headers }), { elsewhere: 'account' })
  const own = await explain(ai.edge, { ...asked, account: ai.account, headers })
  assert.deepEqual([own.outcome, own.gateway?.authenticated], ['depends', true])
  assert.equal((await explain(ai.edge, { ...asked, account: ai.account })).response!.status, 401)
})

test('an AI call is explained with its gateway and provider, and its token is checked and not shown', async t => {
  const provider = await startResponder(t, ok('{}'))
  const ai = await startAi(
    t,
    { openai: provider.url },
    { gateway: { rateLimit: { technique: 'sliding', interval: 60, limit: 5 } } },
  )
  const about = { host: 'ai.test', account: ai.account }
  const target = `${ai.native('openai')}/v1/models`
  const without = await explain(ai.edge, { ...about, target })
  assert.deepEqual([without.outcome, without.response!.status], ['refused', 401])
  assert.equal(stepOf(without, 'authenticate').verdict, 'refuses')
  const headers = [['svc-aig-authorization', `Bearer ${ai.token}`]] as const
  const allowed = await explain(ai.edge, { ...about, target, headers })
  assert.doesNotMatch(JSON.stringify(allowed), new RegExp(ai.token))
  assert.equal(allowed.outcome, 'forwarded')
  assert.equal(allowed.forward!.http, '1')
  assert.deepEqual(allowed.gateway, {
    api: 'native',
    gateway: 'default',
    authentication_required: true,
    authenticated: true,
    provider: 'openai',
    model: null,
    policies: null,
  })
  assert.deepEqual(
    allowed.limits.map(({ kind, used, left }) => [kind, used, left]),
    [['gateway_rate_limit', 0, 5]],
  )
  const rest = { ...about, target: `${ai.rest}/v1/chat/completions`, method: 'POST' }
  const bearer = [['Authorization', `Bearer ${ai.token}`]] as const
  assert.equal((await explain(ai.edge, { ...rest, headers: bearer, bodySize: 100 })).outcome, 'depends')
  const body = JSON.stringify({ model: 'openai/gpt-x', messages: [{ role: 'user', content: 'hi' }] })
  const known = await explain(ai.edge, { ...rest, headers: bearer, body })
  assert.deepEqual([known.outcome, known.gateway!.model], ['forwarded', 'gpt-x'])
  assert.equal(known.forward!.path, '/chat/completions')
  assert.match(known.compression!.reason, /AI routes pass as they are/)
  assert.equal(provider.requests.length, 0)
  const placed = await explain(ai.edge, { ...about, target: `${target}?key=${ai.token}`, headers })
  assert.equal(placed.response!.status, 400)
  assert.doesNotMatch(JSON.stringify(placed), new RegExp(ai.token))
})

test('an AI call is explained with the policy that decides, and the limits in which it counts', async t => {
  const provider = await startResponder(t, ok('{}'))
  const prices = [
    { model: 'openai/gpt-x', input: 1, output: 1, cacheRead: 1, cacheWrite: 1, cacheWriteLong: 1 },
  ]
  const ai = await startAi(t, { openai: provider.url }, { ai: { prices } })
  const each = policy('e', limit(5, 'monthly'))
  await ai.commit([policy('b', block, { resource: { model: 'o3' } }), each])
  const headers = [['Authorization', `Bearer ${ai.token}`]] as const
  const ask = (model: string) =>
    explain(ai.edge, {
      ...{ host: 'ai.test', account: ai.account, method: 'POST', headers },
      ...{ target: `${ai.rest}/v1/chat/completions`, body: JSON.stringify({ model, messages: [] }) },
    })
  const allowed = await ask('openai/gpt-x')
  assert.equal(allowed.outcome, 'forwarded')
  const own = { id: 'e', name: 'Policy e' }
  assert.deepEqual(allowed.gateway!.policies, {
    ...{ decision: 'allow', policy: own, limits: [{ policy: own, amount: 5, period: 'monthly' }] },
  })
  assert.equal(stepOf(allowed, 'reserve').reason, 'Counted in its spend limits.')
  const blocked = await ask('openai/o3')
  assert.deepEqual(blocked.gateway!.policies, {
    ...{ decision: 'block', policy: { id: 'b', name: 'Policy b' }, limits: [] },
  })
  const { verdict, reason } = stepOf(blocked, 'plan')
  assert.deepEqual([verdict, /"Policy b" blocks/.test(reason)], ['refuses', true])
  await ai.commit([policy('n', limit(1), { actor: 'user:{svc.user.id}' })])
  await until(async () => (await ask('openai/gpt-x')).gateway!.policies?.decision === 'no_match')
  assert.equal(provider.requests.length, 0)
})

test('a call under spend limits is explained without a reservation, and then made', async t => {
  const usage = { prompt_tokens: 100, completion_tokens: 100 }
  const provider = await startResponder(t, json({ choices: [], usage }))
  const limit = costOf(100, 100) / 1e9
  const ai = await startAi(
    t,
    { openai: provider.url },
    {
      ai: { prices },
      gateway: { spendLimits: { isEnabled: true, rules: [rule({ limit })] } },
      budgets: hasty,
    },
  )
  const target = `${ai.native('openai')}/v1/chat/completions`
  const body = '{"model":"gpt-4o","max_tokens":90}'
  const headers = [
    ['svc-aig-authorization', `Bearer ${ai.token}`],
    ['content-type', 'application/json'],
  ] as const
  const foretold = () =>
    explain(ai.edge, { host: 'ai.test', account: ai.account, method: 'POST', target, headers, body })
  const made = async () =>
    (await ai.edge.ask(call(target, body, `svc-aig-authorization: Bearer ${ai.token}`))).status
  for (let i = 0; i < 5; i++) {
    const { outcome, ...explanation } = await foretold()
    assert.equal(outcome, 'forwarded')
    assert.equal(stepOf({ outcome, ...explanation }, 'reserve').reason, 'Counted in its spend limits.')
  }
  assert.equal(await spentOf(ai), 0)
  assert.equal(await made(), 200)
  assert.equal(await spentOf(ai), costOf(100, 100))
  assert.equal(await made(), 429)
  const over = await foretold()
  assert.deepEqual([over.outcome, over.response!.status], ['refused', 429])
  assert.equal(stepOf(over, 'reserve').reason, 'Spend limit reached.')
  assert.equal(await spentOf(ai), costOf(100, 100))
  assert.equal(provider.requests.length, 1)
})

test('an AI call gets what its explanation has foretold', { timeout: 120_000 }, async t => {
  const provider = await startResponder(t, ok('{}'))
  const ai = await startAi(t, { openai: provider.url })
  const other = `svct_${'x'.repeat(43)}`
  const paths = [
    `${ai.native('openai')}/v1/models`,
    `${ai.native('nobody')}/x`,
    `${ai.native('openai', 'missing')}/v1/models`,
    `${ai.rest}/v1/chat/completions`,
    `${ai.rest}/v1/nothing`,
    `${ai.native('openai')}/v1/models?key=${ai.token}`,
    '/nowhere',
    '/.well-known/oauth-protected-resource',
    '/cdn-cgi/error/1020',
  ]
  const calls: fc.Arbitrary<RequestInQuestion> = fc.record({
    zone: fc.constant('site'),
    account: fc.constant(ai.account),
    method: fc.constantFrom('GET', 'POST', 'POST'),
    target: fc.constantFrom(...paths),
    host: fc.constant('ai.test'),
    headers: fc.subarray([
      ['Accept', 'text/html'],
      ['Authorization', `Bearer ${ai.token}`],
      ['svc-aig-authorization', `Bearer ${ai.token}`],
      ['svc-aig-authorization', `Bearer ${other}`],
      ['svc-aig-metadata', '{"a":1}'],
      ['svc-aig-unknown', '1'],
      ['Content-Type', 'text/plain'],
      ['Transfer-Encoding', 'chunked'],
    ] as const),
    address: fc.constant('127.0.0.1'),
    body: fc.constantFrom(
      null,
      '',
      '{',
      JSON.stringify({ model: 'openai/gpt-x', messages: [{ role: 'user', content: 'hi' }] }),
      JSON.stringify({ model: 'nobody/x', messages: [] }),
    ),
    bodySize: fc.constant(null),
    clientCertificate: fc.constant(null),
  })
  // Whatever is drawn, each outcome is among them.
  const plain = {
    zone: 'site',
    account: ai.account,
    method: 'GET',
    host: 'ai.test',
    address: '127.0.0.1',
    body: null,
    bodySize: null,
    clientCertificate: null,
  }
  const token = [['svc-aig-authorization', `Bearer ${ai.token}`]] as const
  const examples: [RequestInQuestion][] = [
    [{ ...plain, target: paths[0]!, headers: token }],
    [{ ...plain, target: paths[0]!, headers: [] }],
    [{ ...plain, target: '/.well-known/oauth-protected-resource', headers: [] }],
  ]
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(calls, async asked => {
      const explanation = await explain(ai.edge, asked)
      assert.ok(!JSON.stringify(explanation).includes(ai.token))
      const client = await ai.edge.connect('127.0.0.1')
      const isChunked = asked.headers.some(([name]) => name === 'Transfer-Encoding')
      const body = asked.body ?? ''
      const sent = !isChunked ? body : `${body === '' ? '' : chunks(body)}0\r\n\r\n`
      await client.send(`${headBytes(asked).toString('latin1')}${sent}`)
      const response = await client.response(asked.method)
      client.leave()
      const story = `${JSON.stringify(asked)} ${response.text} ${JSON.stringify(explanation)}`
      seen.add(explanation.outcome)
      if (explanation.outcome === 'depends') return assert.ok(isChunked && asked.body === null, story)
      const { status } = explanation.response ?? { status: 200 }
      assert.equal(response.status, status, story)
    }),
    { numRuns: thorough(300, 100), examples },
  )
  assert.ok(seen.has('forwarded') && seen.has('refused') && seen.has('responded'), [...seen].join())
})

test('a chunked body that is empty is read as such, in an explanation too', async t => {
  const provider = await startResponder(t, ok('{}'))
  const ai = await startAi(t, { openai: provider.url })
  const headers = [
    ['Authorization', `Bearer ${ai.token}`],
    ['Transfer-Encoding', 'chunked'],
  ] as const
  const target = `${ai.rest}/v1/chat/completions`
  const asked = {
    ...question,
    account: ai.account,
    host: 'ai.test',
    method: 'POST',
    target,
    headers,
    body: '',
  }
  const { response } = await explain(ai.edge, asked)
  assert.equal(response!.status, 400)
  const sent = await ai.edge.ask(`${headBytes(asked).toString('latin1')}0\r\n\r\n`)
  assert.equal(sent.status, 400)
})

test('a rule that the API has set is named by its id', async t => {
  const rule = { ...noAdmin, id: '0123456789abcdef0123456789abcdef' }
  const known = { accessRules: [rule], errorRules: [], errorPages: {} }
  const config = edgeConfig([], { zone: { access: { ...openAccess, rules: [{ ...noAdmin, line: 4 }] } } })
  const edge = await listenAt(t, new Edge(t, config, { zones: { of: () => known } }))
  const step = stepOf(await explain(edge, { target: '/admin' }), 'admit')
  assert.deepEqual(
    [step.rule!.set_by, step.rule!.id, step.rule!.number, step.rule!.line],
    ['api', rule.id, null, null],
  )
  assert.equal(step.reason, `Denied by access rule ${rule.id} of site.`)
})

test('a gate for people tells who it lets in, until when, and where others are led', async t => {
  const origin = await startResponder(t, ok())
  const { edge, visit } = await startGatedSite(t, origin.url, { gate: { endsOpen: true } })
  const { user, cookie } = await visit()
  const reasonFor = async (...headers: (readonly [string, string])[]) =>
    stepOf(await explain(edge, { host: 'localhost', headers }), 'protect').reason
  assert.equal(await reasonFor(['Cookie', cookie]), `Let in as ${user.id}, until the session ends.`)
  assert.equal(await reasonFor(['Accept', 'application/json']), 'Sign in first.')
  assert.equal(await reasonFor(['Accept', 'text/html']), 'It has no session: a browser is led to sign in.')
  edge.reload({
    ...edge.config,
    zones: [zoneTo([origin.url], { zone: { hosts: ['localhost'] }, route: { protect: [anyone] } })],
  })
  assert.equal(await reasonFor(['Cookie', cookie]), `Let in as ${user.id}.`)
  assert.equal(origin.requests.length, 0)
})

test('a credential of the gateway is told of by its place, and refused as the request would be', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url])
  const { value: token } = mintToken()
  for (const [asked, place] of [
    [{ headers: [['Authorization', `Bearer ${token}`]] }, 'the header authorization'],
    [{ headers: [['svc_aig_authorization', token]] }, 'the header svc_aig_authorization'],
    [{ target: `/?key=${token}` }, 'the query'],
    [{ target: `/%73${token.slice(1)}` }, 'the path'],
  ] as const) {
    const explanation = await explain(edge, asked)
    const { verdict, reason, error } = stepOf(explanation, 'authenticate')
    assert.deepEqual([verdict, error?.name], ['refuses', 'bad_request'])
    assert.equal(
      reason,
      `Not an AI call. It has a credential of this gateway in ${place}, which no origin may see.`,
    )
    assert.equal(stepOf(explanation, 'locate').reason, 'Route /.')
    assert.doesNotMatch(JSON.stringify(explanation), /svct_/)
    const client = await edge.connect()
    await client.send(headBytes({ ...question, ...asked }))
    const response = await client.response()
    const { status, content_type } = explanation.response!
    assert.deepEqual([response.status, response.field('content-type')], [status, content_type])
  }
  assert.equal(origin.wires.length, 0)
  const { reason } = stepOf(await explain(edge), 'authenticate')
  assert.equal(reason, 'Not an AI call. No credential of this gateway was found in it.')
})

test('credentials that authenticate a connection go by HTTP/1.1, on a connection of their own', async t => {
  const origin = await startResponder(t, ok())
  const edge = await startEdge(t, [origin.url], { transport: { http: 'h2c' } })
  const asked = { headers: [['Authorization', 'NTLM TlRMTVNTUAABAAAA']] } as const
  const [own, usual] = [await explain(edge, asked), await explain(edge)]
  assert.deepEqual([own.forward!.http, usual.forward!.http], ['1', 'h2c'])
  assert.match(stepOf(own, 'forward').reason, /^Sent to the origin, on a connection of its own/)
  assert.equal(stepOf(usual, 'forward').reason, 'Sent to the origin.')
})

test('of a request to an MCP server, it says what is asked, and which rule allows or refuses it', async t => {
  const origin = await startResponder(t, ok('{}'))
  const rule = {
    ...{ methods: null, condition: null, action: 'deny' as const, scopes: [], rate: null },
    targets: [{ kind: 'tool' as const, pattern: 'delete' }],
  }
  const allow = { ...rule, targets: [{ kind: 'tool' as const, pattern: 'read' }], action: 'allow' as const }
  const mcp = { bodyLimit: 1024, origins: [], rules: [rule, allow], otherwise: 'allow' } as const
  const edge = await startEdge(t, [origin.url], { route: { mcp } })
  const callOf = (name: string) => ({
    method: 'POST',
    headers: [['content-type', 'application/json']] as const,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } }),
  })
  const allowed = await explain(edge, callOf('search'))
  assert.equal(allowed.outcome, 'forwarded')
  const { reason, compared } = stepOf(allowed, 'understand')
  assert.deepEqual([reason, compared[0]!.value], ['A message.', 'tools/call search'])
  assert.equal(stepOf(allowed, 'permit').reason, 'No MCP rule denies it.')
  const byRule = await explain(edge, callOf('read'))
  assert.equal(stepOf(byRule, 'permit').reason, 'Allowed by MCP rule 2.')
  const refused = await explain(edge, callOf('delete'))
  assert.deepEqual([refused.outcome, stepOf(refused, 'permit').verdict], ['refused', 'refuses'])
  assert.equal(stepOf(refused, 'permit').reason, 'Not allowed here: MCP rule 1.')
  const unread = await explain(edge, { ...callOf('search'), body: '{' })
  assert.equal(stepOf(unread, 'understand').error!.code, -32700)
  const unknown = await explain(edge, { ...callOf('search'), body: null, bodySize: 10 })
  assert.equal(unknown.outcome, 'depends')
  assert.equal(origin.requests.length, 0)
})
