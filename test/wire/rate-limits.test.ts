// Rate limits and quotas on the wire: what passes, what is refused, and what clients are told of it.

import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { LimitKey, RateLimitConfig } from '../../src/config/model/limit-config.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { ManualClock, patient } from '../help/clock.ts'
import {
  codeOf,
  Edge,
  edgeConfig,
  type EdgeSettings,
  listenAt,
  recordOf,
  startEdge,
  zoneTo,
} from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'
import { type Message, request } from '../help/raw.ts'
import { SteeredCounters } from '../limits/steered-counters.ts'

const json = 'Accept: application/json'
const address: LimitKey = { by: 'address' }

function rule(settings: Partial<RateLimitConfig> = {}): RateLimitConfig {
  return { name: 'few', limit: 2, period: 60_000, key: [address], when: null, action: 'block', ...settings }
}

async function start(t: TestContext, settings: EdgeSettings) {
  const origin = await startResponder(t, ok('fine'))
  const clock = new ManualClock()
  const edge = await startEdge(t, [origin.url], { ...patient, ...settings, clock })
  return { origin, clock, edge }
}

/** Asks so often, and gives the statuses. */
async function statuses(edge: Edge, times: number, line = 'GET /', ...fields: string[]): Promise<number[]> {
  const all: number[] = []
  for (let i = 0; i < times; i++) all.push((await edge.ask(request(line, json, ...fields))).status)
  return all
}

test('requests over a limit get 1015, and pass again after the wait', async t => {
  const { origin, clock, edge } = await start(t, { rateLimits: [rule()] })
  assert.deepEqual(await statuses(edge, 2), [200, 200])
  clock.advance(20_000)
  const refused = await edge.ask(request('GET /', json))
  assert.equal(refused.status, 429)
  assert.equal(codeOf(refused), 1015)
  assert.equal(refused.field('retry-after'), '41')
  assert.equal(origin.requests.length, 2)
  clock.advance(39_900)
  assert.deepEqual(await statuses(edge, 1), [429])
  clock.advance(1_200)
  assert.deepEqual(await statuses(edge, 3), [200, 200, 429])
})

test('Retry-After is the same in the header and in every format, and for HEAD', async t => {
  const { clock, edge } = await start(t, { rateLimits: [rule({ limit: 1, period: 3_600_000 })] })
  await edge.ask(request('GET /'))
  clock.advance(1_000_000)
  const asked: readonly [accept: string, wait: (text: string) => string | undefined][] = [
    ['application/json', text => String(JSON.parse(text).retry_after)],
    ['application/problem+json', text => String(JSON.parse(text).retry_after)],
    ['text/markdown', text => /^retry_after: (\d+)$/m.exec(text)?.[1]],
    ['text/html', text => /\b(26\d\d)\b/.exec(text)?.[1]],
  ]
  const head = await edge.ask(request('HEAD /', json))
  const told = head.field('retry-after')!
  assert.ok(Number(told) >= 2_600 && Number(told) <= 2_660, told)
  assert.equal(head.text, '')
  for (const [accept, wait] of asked) {
    const answer = await edge.ask(request('GET /', `Accept: ${accept}`))
    assert.equal(answer.field('retry-after'), told, accept)
    assert.equal(wait(answer.text), told, accept)
  }
})

test('responses have the limit with the least left, and the policies of all', async t => {
  const rateLimits = [rule({ name: 'wide', limit: 100, period: 3_600_000 }), rule({ limit: 3 })]
  const { edge } = await start(t, { rateLimits })
  const policies = '"wide";q=100;w=3600, "few";q=3;w=60'
  const passed = await edge.ask(request('GET /'))
  assert.equal(passed.text, 'fine')
  assert.equal(passed.field('ratelimit'), '"few";r=2;t=60')
  assert.equal(passed.field('ratelimit-policy'), policies)
  assert.equal((await edge.ask(request('HEAD /'))).field('ratelimit'), '"few";r=1;t=60')
  await edge.ask(request('GET /'))
  const refused = await edge.ask(request('GET /', json))
  assert.equal(refused.field('ratelimit'), `"few";r=0;t=${recordOf(refused).retry_after}`)
  assert.equal(refused.field('ratelimit-policy'), policies)
})

test('without limits, responses have no limit fields', async t => {
  const { edge } = await start(t, {})
  const answer = await edge.ask(request('GET /'))
  assert.deepEqual([answer.field('ratelimit'), answer.field('ratelimit-policy')], [null, null])
})

test('limit fields of an origin are passed on', async t => {
  const origin = await startResponder(t, ok('', 'RateLimit: "theirs";r=5'))
  const edge = await startEdge(t, [origin.url], { rateLimits: [rule()] })
  assert.deepEqual((await edge.ask(request('GET /'))).all('ratelimit'), ['"theirs";r=5', '"few";r=1;t=60'])
})

test('a rule that only logs lets everything pass, counts it, and adds no fields', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ action: 'log' })] })
  assert.deepEqual(await statuses(edge, 5), [200, 200, 200, 200, 200])
  const { allowed, limited, logged } = edge.metrics.limits.rule('few')
  assert.deepEqual([allowed.value, limited.value, logged.value], [2, 0, 3])
  assert.equal((await edge.ask(request('GET /'))).field('ratelimit'), null)
})

test('the access log names the limit of a refusal', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ limit: 1 })] })
  await statuses(edge, 2)
  assert.deepEqual(
    edge.accesses.map(({ cause }) => cause),
    [null, 'rate limit few'],
  )
})

test('decisions are counted by rule', async t => {
  const { edge } = await start(t, { rateLimits: [rule()] })
  await statuses(edge, 5)
  const { allowed, limited, logged } = edge.metrics.limits.rule('few')
  assert.deepEqual([allowed.value, limited.value, logged.value], [2, 3, 0])
})

test('a request that one rule refuses is not counted by the others', async t => {
  const rateLimits = [rule({ name: 'wide', limit: 4 }), rule({ limit: 2, when: 'request.path == "/tight"' })]
  const { edge } = await start(t, { rateLimits })
  assert.deepEqual(await statuses(edge, 5, 'GET /tight'), [200, 200, 429, 429, 429])
  assert.deepEqual(await statuses(edge, 3), [200, 200, 429])
})

test('rules of the file, the zone and the route add up; other zones have their own', async t => {
  const origin = await startResponder(t, ok())
  const other = zoneTo([origin.url], { zone: { name: 'other', hosts: ['other.test'] } })
  const { edge } = await start(t, {
    rateLimits: [rule({ name: 'all', limit: 4 })],
    zone: { rateLimits: [rule({ name: 'zone', limit: 3 })] },
    route: { rateLimits: [rule({ name: 'route', limit: 2 })] },
    zones: [other],
  })
  const answer = await edge.ask(request('GET /'))
  assert.equal(answer.field('ratelimit-policy'), '"all";q=4;w=60, "zone";q=3;w=60, "route";q=2;w=60')
  assert.deepEqual(await statuses(edge, 2), [200, 429])
  const elsewhere = request('GET /', json).replace('site.test', 'other.test')
  assert.equal((await edge.ask(elsewhere)).field('ratelimit'), '"all";r=1;t=60')
  assert.equal((await edge.ask(elsewhere)).status, 200)
  assert.equal(codeOf(await edge.ask(elsewhere)), 1015)
})

test('an expression selects what counts', async t => {
  const when = 'request.method == "POST" || request.headers["x-plan"].exists(v, v == "free")'
  const { edge } = await start(t, { rateLimits: [rule({ when })] })
  assert.deepEqual(await statuses(edge, 4, 'GET /', 'X-Plan: paid'), [200, 200, 200, 200])
  assert.deepEqual(await statuses(edge, 3, 'GET /', 'X-Plan: free'), [200, 200, 429])
  assert.equal(edge.metrics.expressionFailures.limits.value, 0)
})

for (const [what, when, line] of [
  ['a header is missing', 'request.headers["x-plan"].exists(v, v == "free")', 'GET /'],
  [
    'the client makes a text too long for it',
    'request.query.split("").exists(c, c == "!")',
    `GET /?q=${'x'.repeat(15_000)}`,
  ],
] as const)
  test(`a request counts where the expression fails: ${what}`, async t => {
    const { edge } = await start(t, { rateLimits: [rule({ when })] })
    assert.deepEqual(await statuses(edge, 3, line), [200, 200, 429])
    assert.equal(edge.metrics.expressionFailures.limits.value, 3)
  })

test('a path that origins may read in several ways counts if any of them is meant', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ when: 'request.path == "/login"' })] })
  const [one, two, three] = ['GET /login;x', 'GET //x/login', 'GET /login//..']
  assert.deepEqual(await statuses(edge, 1, one), [200])
  assert.deepEqual(await statuses(edge, 1, two), [200])
  assert.deepEqual(await statuses(edge, 1, three), [200])
  assert.deepEqual(await statuses(edge, 1, 'GET /x/..%2flogin'), [429])
})

test('where requests are counted by path, each reading is, and none of them if one is over', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ key: [{ by: 'path' }] })] })
  assert.deepEqual(await statuses(edge, 1, 'GET /login'), [200])
  const answer = await edge.ask(request('GET /login;a', json))
  assert.deepEqual(
    [answer.field('ratelimit'), answer.field('ratelimit-policy')],
    ['"few";r=0;t=60', '"few";q=2;w=60'],
  )
  assert.deepEqual(await statuses(edge, 1, 'GET /login;b'), [429])
  assert.deepEqual(await statuses(edge, 1, 'GET //login;c'), [429])
  assert.deepEqual(await statuses(edge, 2, 'GET //c/other'), [200, 200])
  assert.deepEqual(await statuses(edge, 1, 'GET /c/other'), [429])
  const { allowed, limited } = edge.metrics.limits.rule('few')
  assert.deepEqual([allowed.value, limited.value], [4, 3])
  assert.deepEqual(await statuses(edge, 2, 'GET /users/b'), [200, 200])
  assert.deepEqual(await statuses(edge, 3, 'GET //users/b'), [429, 429, 429])
  assert.deepEqual(await statuses(edge, 3, 'GET /b'), [200, 200, 429])
})

test('each reading of a path is counted in the store too, near a limit', async t => {
  const origin = await startResponder(t, ok())
  const clock = new ManualClock()
  const limiter = new Limiter({ clock, counters: new SteeredCounters() })
  const rateLimits = [rule({ key: [{ by: 'path' }] })]
  const edge = await listenAt(
    t,
    new Edge(t, edgeConfig([origin.url], { ...patient, rateLimits }), { clock, limiter }),
  )
  for (const [target, status] of [
    ['/login', 200],
    ['/login;a', 200],
    ['/login;b', 429],
    ['/login;b', 429],
    ['/login;c', 429],
    ['/users/b', 200],
    ['/users/b', 200],
    ['//users/b', 429],
    ['//users/b', 429],
    ['/b', 200],
    ['/b', 200],
    ['/b', 429],
  ] as const)
    assert.deepEqual(await statuses(edge, 1, `GET ${target}`), [status], target)
})

test('a path that is too ambiguous is 400 where a limit looks at it, and otherwise counts like others', async t => {
  const absurd = 'GET /a//b;c\\d%2fe'
  for (const looking of [rule({ when: 'request.path == "/login"' }), rule({ key: [{ by: 'path' }] })])
    assert.deepEqual(await statuses((await start(t, { rateLimits: [looking] })).edge, 1, absurd), [400])
  assert.deepEqual(
    await statuses((await start(t, { rateLimits: [rule()] })).edge, 3, absurd),
    [200, 200, 429],
  )
})

/** Two requests that are counted apart by a key, and one that is counted with the first. */
const apart: Readonly<
  Record<string, readonly [key: readonly LimitKey[], a: string[], b: string[], likeA: string[]]>
> = {
  token: [
    [{ by: 'token' }],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /', 'Authorization: Bearer two'],
    ['GET /', 'authorization: bearer \t one', 'svc-aig-authorization: Bearer three'],
  ],
  'token, and a tab before it is no escape': [
    [{ by: 'token' }],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /', 'Authorization: Bearer two'],
    ['GET /', 'Authorization: BEARER\tone'],
  ],
  'address, where only gateways would read the token': [
    [{ by: 'token' }],
    ['GET /', 'svc-aig-authorization: Bearer one'],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /', 'svc-aig-authorization: Bearer two'],
  ],
  'address, where the token is none': [
    [{ by: 'token' }],
    ['GET /', 'Authorization: Bearer one two'],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /', 'Authorization: Bearer one,'],
  ],
  'address, where two tokens are sent': [
    [{ by: 'token' }],
    ['GET /', 'Authorization: Bearer one', 'Authorization: Bearer three'],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /', 'Authorization: Bearer two', 'authorization: Bearer one'],
  ],
  'token, where other credentials are none': [
    [{ by: 'token' }],
    ['GET /', 'Authorization: Basic b25lOg=='],
    ['GET /', 'Authorization: Bearer one'],
    ['GET /'],
  ],
  header: [
    [{ by: 'header', name: 'x-api-key' }],
    ['GET /', 'X-Api-Key: one'],
    ['GET /', 'X-Api-Key: two'],
    ['GET /', 'x-api-key: one'],
  ],
  'header, or address where it is missing': [
    [{ by: 'header', name: 'x-api-key' }],
    ['GET /'],
    ['GET /', 'X-Api-Key: 127.0.0.1'],
    ['GET /'],
  ],
  'address, where a header comes twice': [
    [{ by: 'header', name: 'x-api-key' }],
    ['GET /', 'X-Api-Key: one', 'X-Api-Key: three'],
    ['GET /', 'X-Api-Key: one'],
    ['GET /', 'X-Api-Key: two', 'x-api-key: one'],
  ],
  path: [[{ by: 'path' }], ['GET /a?x=1'], ['GET /b?x=1'], ['GET //x/../%61?y=2']],
  'path and header': [
    [{ by: 'path' }, { by: 'header', name: 'x-user' }],
    ['GET /a', 'X-User: one'],
    ['GET /a', 'X-User: two'],
    ['GET /a', 'X-User: one'],
  ],
}

for (const [what, [key, a, b, likeA]] of Object.entries(apart)) {
  test(`requests are distinguished by ${what}`, async t => {
    const { edge } = await start(t, { rateLimits: [rule({ limit: 1, key })] })
    const ask = ([line, ...fields]: string[]) => edge.ask(request(line!, json, ...fields))
    assert.equal((await ask(a)).status, 200)
    assert.equal((await ask(b)).status, 200)
    assert.equal((await ask(likeA)).status, 429)
  })
}

test('the client behind a trusted hop is counted, not the hop', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ limit: 1 })], trustedProxies: ['127.0.0.1'] })
  const ask = async (client: string) =>
    (await edge.ask(request('GET /', json, `X-Forwarded-For: ${client}`))).status
  assert.deepEqual([await ask('192.0.2.1'), await ask('192.0.2.2'), await ask('192.0.2.1')], [200, 200, 429])
})

for (const [what, by, other] of [
  ['an address', address, '2001:db8:1:3::1'],
  ['what stands in for a token', { by: 'token' }, '192.0.2.1'],
  ['what stands in for a header', { by: 'header', name: 'x-api-key' }, '2001:db8:2::1'],
] as const) {
  test(`${what} of IPv6 is counted by its first 64 bits`, async t => {
    const { edge } = await start(t, {
      rateLimits: [rule({ key: [by] })],
      trustedProxies: ['127.0.0.1'],
    })
    const ask = (client: string) => statuses(edge, 1, 'GET /', `X-Forwarded-For: ${client}`)
    assert.deepEqual(await ask('2001:db8:1:2::1'), [200])
    assert.deepEqual(await ask('2001:db8:1:2:1::'), [200])
    assert.deepEqual(await ask('2001:db8:1:2:ffff:ffff:ffff:ffff'), [429])
    assert.deepEqual(await ask(other), [200])
  })
}

test('an empty key counts all requests together', async t => {
  const { edge } = await start(t, {
    rateLimits: [rule({ limit: 1, key: [] })],
    trustedProxies: ['127.0.0.1'],
  })
  const ask = async (client: string) =>
    (await edge.ask(request('GET /', json, `X-Forwarded-For: ${client}`))).status
  assert.deepEqual([await ask('192.0.2.1'), await ask('192.0.2.2')], [200, 429])
})

test('a connection stays open after a refusal', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ limit: 1, period: 1_000 })] })
  const client = await edge.connect()
  const answers: Message[] = []
  for (let i = 0; i < 3; i++) {
    await client.send(request('GET /', json))
    answers.push(await client.response())
  }
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 429, 429],
  )
})

test('a reload keeps the counts', async t => {
  const { origin, edge } = await start(t, { rateLimits: [rule()] })
  assert.deepEqual(await statuses(edge, 3), [200, 200, 429])
  edge.reload(edgeConfig([origin.url], { rateLimits: [rule()] }))
  assert.deepEqual(await statuses(edge, 1), [429])
})

for (const [kind, code, period] of [
  ['day', 1027, 86_400_000],
  ['month', 1025, 31 * 86_400_000],
] as const) {
  test(`a quota of a ${kind} is ${code} when it is used up, to its end in UTC, with no Retry-After`, async t => {
    const { clock, edge } = await start(t, { zone: { quota: { day: null, month: null, [kind]: 3 } } })
    clock.advance(period - 60_000)
    assert.deepEqual(await statuses(edge, 3), [200, 200, 200])
    const refused = await edge.ask(request('GET /', json))
    assert.equal(refused.status, 429)
    assert.equal(codeOf(refused), code)
    assert.equal(recordOf(refused).retryable, false)
    assert.deepEqual([refused.field('ratelimit'), refused.field('ratelimit-policy')], [null, null])
    assert.equal(edge.accesses.at(-1)!.cause, `quota site:${kind}`)
    clock.advance(60_001)
    assert.deepEqual(await statuses(edge, 4), [200, 200, 200, 429])
    assert.equal(edge.metrics.limits.rule(`site:${kind}`).limited.value, 2)
  })
}

test('requests that a rule refuses do not count against the quota', async t => {
  const { clock, edge } = await start(t, {
    rateLimits: [rule({ limit: 1 })],
    zone: { quota: { day: 2, month: null } },
  })
  assert.deepEqual(await statuses(edge, 3), [200, 429, 429])
  clock.advance(62_000)
  assert.deepEqual(await statuses(edge, 1), [200])
  clock.advance(62_000)
  assert.equal(codeOf(await edge.ask(request('GET /', json))), 1027)
})

test('previews of errors count by the rules of all and of their zone, on AI hosts too', async t => {
  const { edge } = await start(t, {
    ai: { hosts: ['ai.test'] },
    rateLimits: [rule({ name: 'all', limit: 3 })],
    zone: { rateLimits: [rule({ name: 'zone' })] },
    route: { rateLimits: [rule({ name: 'route', limit: 1 })] },
  })
  const preview = request('GET /cdn-cgi/error/1000', json)
  const ask = async (ask: string) => codeOf(await edge.ask(ask))
  assert.deepEqual([await ask(preview), await ask(preview), await ask(preview)], [1000, 1000, 1015])
  const ofAi = preview.replace('site.test', 'ai.test')
  assert.deepEqual([await ask(ofAi), await ask(ofAi)], [1000, 1015])
})

test('a WebSocket is counted when it is asked for', async t => {
  const { edge } = await start(t, { rateLimits: [rule({ limit: 1 })] })
  await edge.ask(request('GET /'))
  const upgrade = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13']
  const answer = await edge.ask(
    request('GET /', json, ...upgrade, 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='),
  )
  assert.equal(codeOf(answer), 1015)
})
