// Nothing that a client sends makes the rules of a request take more than a millisecond of a turn, whatever rules there are of those that load.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Bans } from '../../src/access/bans/bans.ts'
import { AccessPolicy } from '../../src/access/policy.ts'
import { AddressTable } from '../../src/net/address/address-table.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { Tally } from '../../src/metrics/counters/distribution.ts'
import { maxWork, Work } from '../../src/expression/work-budget.ts'
import type { AccessCondition, AccessRule } from '../../src/config/model/access-config.ts'
import type { ErrorRule } from '../../src/config/model/custom-errors-config.ts'
import type { RateLimitConfig } from '../../src/config/model/limit-config.ts'
import { accessWork, expressionWork, limitWork, rewriteWork } from '../../src/config/shape/rule-cost.ts'
import { admit } from '../../src/edge/steps/admit.ts'
import { Exchange } from '../../src/edge/exchange/exchange.ts'
import { factsOf, sentFactsOf } from '../../src/edge/exchange/facts.ts'
import { meter } from '../../src/edge/meter/meter.ts'
import { compileRateLimits } from '../../src/edge/snapshot/limit-rules.ts'
import { Rewrite } from '../../src/edge/rewrite/rewrite.ts'
import { CustomErrors } from '../../src/errors/custom/custom-errors.ts'
import { refuse } from '../../src/errors/catalogue/refusal.ts'
import { BodyReader } from '../../src/http1/body/body.ts'
import { parseRequestHead, RequestHead } from '../../src/http1/heads/request-head.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { TallyBook } from '../../src/activity/tally-book.ts'
import { ManualClock } from '../help/clock.ts'
import { nativeWork } from '../help/native-work.ts'
import { openAccess } from '../help/edge.ts'

const limits = { url: 16_384, headerSection: 131_072, headers: 256 }
/** What is found once, whatever the rules, beside what `look` finds: the User-Agent in lower case, the host of the Referer. */
const onHead = 8_000
const mostSteps = onHead + maxWork.rules.file + maxWork.rules.api
const most = 1_000 // rules of a list

const header = 'request.headers["x"][0]'
/** Expressions by number, none of which holds for any request below. */
const expressions: readonly ((i: number) => string)[] = [
  i => `request.path.startsWith("/none${i}")`,
  i => `request.path.contains("aaab${i}") || request.query.contains("aab${i}")`,
  i => `request.path.matches("aaab${i}|x.*y${i}z")`,
  i => `request.path.matches("a.{${20 + (i % 20)}}b${i}")`,
  i => `request.path.matches("(a|aa)+!${i}")`,
  i => `"x" in request.headers && ${header}.contains("aaab${i}")`,
  i => `"x" in request.headers && ${header}.matches("(?i)a{1,9}b${i}")`,
  i => `"x" in request.headers && ${header}.lowerAscii() == "b${i}"`,
  i => `"x" in request.headers && ${header}.split(",").exists(v, v == "b${i}")`,
  i => `request.headers.exists(n, n == "none${i}")`,
  i => `request.headers.exists(n, request.headers[n].exists(v, v.contains("aab${i}")))`,
  i => `request.query.split("&").exists(a, a == "b${i}")`,
  i => `request.path.size() == 1000${i}`,
  i => `request.headers[?"none${i}"].orValue([]).exists(v, v == "1")`,
  i => `request.ip in ["198.51.100.${i % 250}", "203.0.113.${i % 250}"]`,
]

const conditions: { readonly [K in AccessCondition['kind']]: (i: number) => AccessCondition } = {
  ip: i => ({ kind: 'ip', networks: [`10.1.${i >> 8}.${i & 255}`, `2001:db8:${i}::/48`] }),
  list: () => ({ kind: 'list', name: 'bad' }),
  country: () => ({ kind: 'country', countries: ['DE', 'FR'] }),
  asn: i => ({ kind: 'asn', numbers: [i + 10] }),
  user_agent: i => ({ kind: 'user_agent', patterns: [`*aab${i}*`, `a*aac${i}*aad*`, `*b${i}`] }),
  referer: i => ({ kind: 'referer', hosts: [`*.none${i}.example`, '*.a.b.c', `none${i}.example`] }),
  referer_not: () => ({ kind: 'referer_not', hosts: ['*.example', '*.a.example', '*.b.c.example'] }),
  path: i => ({ kind: 'path', prefixes: [`/none${i}`, `/${'a'.repeat(200)}/none${i}`] }),
  expression: i => ({ kind: 'expression', text: expressions[i % expressions.length]!(i) }),
}

/** Adds rules until the next would not load. */
function filled<T>(rule: (i: number) => T, workOf: (rule: T) => number, budget: number): T[] {
  const rules: T[] = []
  for (let i = 0, sum = 0; rules.length < most; i++) {
    const next = rule(i)
    sum += workOf(next)
    if (sum > budget) break
    rules.push(next)
  }
  return rules
}

const length = fc.oneof(fc.constantFrom(0, 100, 512, 2_000, 8_000, 16_000), fc.nat(16_000))
const unit = fc.constantFrom(
  'a',
  'A',
  '.',
  '/',
  '%41',
  '%2f',
  ';',
  ',',
  'a,',
  '&',
  'aab',
  '..',
  'é',
  '//',
  'a/../',
)
const filler = fc
  .tuple(unit, fc.oneof(length, fc.constantFrom(60_000, 120_000)))
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length))
const target = fc
  .tuple(filler, filler)
  .map(([path, query]) => `/${path.slice(0, 16_300)}?${query}`.replace('#', '').slice(0, 16_384))
const fieldLine = fc.oneof(
  filler.map(text => `User-Agent: a${text}`),
  filler.map(text => `Referer: http://${text}/`),
  filler.map(text => `X: ${text}`),
  filler.map(text => `Cookie: ${text}`),
  fc.nat(250).map(count => Array.from({ length: count }, (_, i) => `Y-${i}: ${'a'.repeat(i)}`).join('\r\n')),
)

/** Gives a head that passes the limits. */
const heads = fc.tuple(target, fc.array(fieldLine, { maxLength: 6 })).map(([target, lines]) => {
  for (let few = lines; ; few = few.slice(1)) {
    const text = `GET ${target} HTTP/1.1\r\nHost: site.test\r\n${few.map(line => `${line}\r\n`).join('')}\r\n`
    const bytes = Buffer.from(text, 'latin1')
    const head = parseRequestHead(bytes, 0, bytes.length, limits)
    if (head instanceof RequestHead) return head
    if (few.length === 0) throw new Error(head)
  }
})

const metrics = new EdgeMetrics()
const parts = {
  lists: { get: () => AddressTable.of(['192.0.2.99', '10.0.0.0/8']) },
  geo: { countryOf: () => 'NZ', networkOf: () => 1 },
  bans: new Bans(new ManualClock()),
  metrics,
}

function policyOf(rules: readonly AccessCondition[], zone: string | null): AccessPolicy {
  const denying = rules.map((condition): AccessRule => ({ action: 'deny', condition, description: null }))
  return new AccessPolicy({ ...openAccess, rules: denying }, zone, parts)
}

function exchangeOf(head: RequestHead, access: AccessPolicy, given: object): Exchange {
  const clock = new ManualClock()
  const snapshot = { access, limits, trusted: { has: () => false } }
  const tallies = new TallyBook(clock, () => {})
  const plane = { clock, tallies, snapshot, metrics, geo: parts.geo, limiter: new Limiter({ clock }) }
  const client = { peer: '192.0.2.1', isTrusted: false }
  const x = new Exchange(plane as never, client as never, head, new BodyReader('none', 0), '0'.repeat(16))
  return look(Object.assign(x, { host: 'site.test' }, given))
}

/** Has a request found what it finds once for all rules. */
function look(x: Exchange): Exchange {
  const { request } = factsOf(x)
  for (const fact of [x.paths, request.path, request.query, request.headers]) assert.notEqual(fact, undefined)
  return x
}

const empty = new AccessPolicy(openAccess, null, parts)

/** Checks that a step takes no more steps than it may, by what it says and by what it does. */
function check(x: Exchange, run: () => void, bound = mostSteps): void {
  const before = x.work.left
  const steps = nativeWork(run)
  assert.ok(steps <= bound, `took ${Math.round(steps)} steps of ${bound}`)
  assert.ok(x.work.left > -maxWork.rules.api, `${x.work.left} of ${before} steps are left`)
}

describe('access rules take no more steps than they may, whatever a client sends', () => {
  const kinds = Object.keys(conditions) as AccessCondition['kind'][]
  for (const kind of kinds) {
    const ofFile = filled(conditions[kind], accessWork, maxWork.rules.file)
    const ofApi = filled(i => conditions[kind](i + 5_000), accessWork, maxWork.rules.api)
    const [all, zone] = [policyOf(ofFile, null), policyOf(ofApi, 'site')]
    test(`${ofFile.length + ofApi.length} of ${kind}`, () => {
      fc.assert(
        fc.property(heads, head => {
          const x = exchangeOf(head, all, { zone: { access: zone, config: { name: 'site' } } })
          check(x, () => admit(x))
        }),
        { numRuns: 40 },
      )
    })
  }

  test('of all kinds', () => {
    const mixed = (i: number) => conditions[kinds[i % kinds.length]!](i)
    fc.assert(
      fc.property(heads, fc.nat(1_000), (head, from) => {
        const rules = filled(i => mixed(i + from), accessWork, maxWork.rules.file)
        const x = exchangeOf(head, policyOf(rules, null), { zone: null })
        check(x, () => admit(x))
      }),
      { numRuns: 40 },
    )
  })
})

for (const [i, expression] of expressions.entries()) {
  test(`expressions such as ${expression(1)} take no more steps than they may`, () => {
    const rules = filled(
      (i): AccessCondition => ({ kind: 'expression', text: expression(i) }),
      accessWork,
      maxWork.rules.file,
    )
    assert.ok(rules.length > 0, `none of ${i} loads`)
    const policy = policyOf(rules, null)
    fc.assert(
      fc.property(heads, head => {
        const x = exchangeOf(head, policy, { zone: null })
        check(x, () => admit(x))
      }),
      { numRuns: 25 },
    )
  })
}

test('rate limits take no more steps than they may', () => {
  const configs = filled(
    (i): RateLimitConfig => ({
      name: `limit-${i}`,
      limit: 1_000_000,
      period: 60_000,
      key: [{ by: 'header', name: 'x' }, { by: 'path' }, { by: 'token' }],
      when: i % 2 === 0 ? null : `!(${expressions[i % expressions.length]!(i)})`,
      action: 'block',
    }),
    ({ when }) => limitWork + (when === null ? 0 : expressionWork(when, 'request', 'bool')),
    maxWork.rules.file,
  )
  const rules = compileRateLimits(configs, metrics)
  fc.assert(
    fc.property(heads, head => {
      const x = exchangeOf(head, empty, { route: { limits: rules } })
      // Each key is hashed once, and the readings of a path are counted apart, eight at most.
      check(x, () => void meter(x), 2 * mostSteps)
    }),
    { numRuns: 25 },
  )
})

test('rewrites take no more steps than they may', () => {
  const values = [
    'request.path + request.query',
    `request.headers["x"].join(",")`,
    'request.path.upperAscii()',
  ]
  const headers = filled(
    i => ({ name: `X-Set-${i}`, value: values[i % values.length]! }),
    ({ value }) => rewriteWork + expressionWork(value, 'request', 'string'),
    maxWork.rules.file,
  )
  const rewrite = new Rewrite({ path: null, requestHeaders: headers, responseHeaders: [] }, new Tally())
  fc.assert(
    fc.property(heads, head => {
      const x = exchangeOf(head, empty, { zone: null })
      const sent = sentFactsOf(x)
      // Found once, too: a Cookie without what is not sent on.
      assert.notEqual(sent.request.headers, undefined)
      check(x, () => void rewrite.begin(x, sent, x.snapshot.limits))
    }),
    { numRuns: 25 },
  )
})

test('error rules take no more steps than they may', () => {
  const { file, api } = maxWork.errors
  const rules = filled(
    (i): ErrorRule => ({
      expression: expressions[i % expressions.length]!(i),
      content: 'x',
      contentType: 'text/plain',
      status: null,
      description: null,
    }),
    ({ expression }) => expressionWork(expression, 'error', 'bool'),
    file + api,
  )
  const custom = new CustomErrors([{ rules, pages: {} }])
  fc.assert(
    fc.property(heads, head => {
      const x = exchangeOf(head, empty, { zone: null, refusal: refuse('dns_resolution_error') })
      check(x, () => void custom.find('dns_resolution_error', factsOf(x)), onHead + file + api)
    }),
    { numRuns: 25 },
  )
})

test('all that rules may do for one request is less than a millisecond', () => {
  const { rules, errors } = maxWork
  assert.equal(new Work().left, rules.file + rules.api)
  assert.ok((rules.file + rules.api + errors.file + errors.api) * 25e-6 <= 1)
})
