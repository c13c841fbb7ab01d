import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Work } from '../../src/expression/work-budget.ts'
import { Bans } from '../../src/access/bans/bans.ts'
import {
  type AccessDecision,
  type AccessParts,
  AccessPolicy,
  type AccessVerdict,
} from '../../src/access/policy.ts'
import type { AccessRequest } from '../../src/access/rules/access-request.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import type { AccessCondition, AccessConfig, AccessRule } from '../../src/config/model/access-config.ts'
import { ruleIdOf } from '../../src/config/model/rule-id.ts'
import { TallyBook } from '../../src/activity/tally-book.ts'
import { ManualClock } from '../help/clock.ts'
import { openAccess } from '../help/edge.ts'
import { thorough } from '../help/thorough.ts'

const rule = (condition: AccessCondition, action: AccessRule['action'] = 'deny'): AccessRule => ({
  action,
  condition,
  description: null,
})

describe('a policy', () => {
  test('without rules, default and ban is empty', () => {
    assert.ok(policyOf({}).isEmpty)
    assert.ok(!policyOf({ rules: [rule({ kind: 'path', prefixes: ['/'] })] }).isEmpty)
    assert.ok(!policyOf({ otherwise: 'deny' }).isEmpty)
    assert.ok(!policyOf({ ban: { refusals: 1, within: 1, lasts: 1 } }).isEmpty)
  })

  test('does not build on places without a database, on lists that are not loaded, on what is no expression', () => {
    const conditions: AccessCondition[] = [
      { kind: 'country', countries: ['DE'] },
      { kind: 'asn', numbers: [1] },
      { kind: 'expression', text: 'request.country == "DE"' },
      { kind: 'expression', text: 'request.nothing' },
      { kind: 'list', name: 'unknown' },
      { kind: 'ip', networks: ['10.0.0.0/99'] },
    ]
    for (const condition of conditions)
      assert.throws(() => policyOf({ rules: [rule(condition)] }), JSON.stringify(condition))
  })

  test('finds no rule on addresses for a client that has none', () => {
    const everywhere: AccessCondition = { kind: 'ip', networks: ['0.0.0.0/0', '::/0'] }
    assert.equal(policyOf({ rules: [rule(everywhere)] }).decide(requestFrom({ address: '' })), null)
    const onlyAllowed = policyOf({ rules: [rule(everywhere, 'allow')], otherwise: 'deny' })
    assert.equal(told(onlyAllowed.decide(requestFrom({ address: '' }))), 'default_deny_policy')
  })

  test('takes the fields of several lines as one list, whatever the case of their names', () => {
    const policy = policyOf({ rules: [rule({ kind: 'user_agent', patterns: ['*bot*'] })] })
    const fields = ['user-agent', 'browser', 'x', 'bot', 'USER-AGENT', 'Robot']
    assert.equal(told(policy.decide({ ...requestFrom({}), fields })), 'browser_signature_banned')
    assert.equal(policy.decide({ ...requestFrom({}), fields: fields.slice(0, 4) }), null)
  })

  test('refuses a request that has no work left for its rules', () => {
    const work = new Work()
    while (work.take(1)) {}
    const policy = policyOf({ rules: [rule({ kind: 'ip', networks: ['10.0.0.1'] })] })
    assert.equal(told(policy.decide({ ...requestFrom({}), work })), 'access_protection_error')
  })

  test('judges each address by itself, and each place by its database', () => {
    const policy = policyOf({ rules: [rule({ kind: 'ip', networks: ['10.0.0.1'] })] })
    const judged = ['192.0.2.1', '10.0.0.1', '10.0.0.1', '192.0.2.1', '2001:db8::1'].map(address =>
      told(policy.decide(requestFrom({ address }))),
    )
    assert.deepEqual(judged, [null, 'ip_banned', 'ip_banned', null, null])
    const here = policyOf({ rules: [rule({ kind: 'country', countries: ['DE'] })] }, () => ({
      ...unknown,
      country: 'DE',
    }))
    assert.equal(told(here.decide(requestFrom({}))), 'country_banned')
  })

  test('reads paths where one of its rules does', () => {
    const [ip, path] = [rule({ kind: 'ip', networks: ['10.0.0.1'] }), rule({ kind: 'path', prefixes: ['/'] })]
    assert.deepEqual(
      [[ip], [ip, path], [rule({ kind: 'expression', text: 'request.path == "/"' })]].map(
        rules => policyOf({ rules }).readsPath,
      ),
      [false, true, true],
    )
  })

  test('counts each decision by its rule, and tells a witness which it was', () => {
    const clock = new ManualClock()
    const hits = new Map<string, number>()
    const book = new TallyBook(clock, all => {
      for (const { name, count } of all) hits.set(name, count)
    })
    const tallies = book.scope('zone')
    const [decisions, metrics] = [[] as AccessDecision[], new EdgeMetrics()]
    const allowing = rule({ kind: 'ip', networks: ['10.0.0.1'] }, 'allow')
    const ofApi = { ...rule({ kind: 'user_agent', patterns: ['bot'] }, 'legal'), id: 'of the API' }
    const denying = { ...rule({ kind: 'referer', hosts: ['a.test'] }), description: 'no a' }
    const failing = rule({ kind: 'expression', text: 'request.path == "/x"' })
    const rules = [ofApi, allowing, denying, failing]
    const ban = { refusals: 2, within: 1_000, lasts: 60_000 }
    const parts = { ...partsOf(null), metrics, bans: new Bans(clock) }
    const config = { rules, otherwise: 'deny', ban } as const
    const witness = (one: AccessDecision) => void decisions.push(one)
    const policy = new AccessPolicy(config, 'site', { ...parts, witness }, [
      allowing,
      ofApi,
      denying,
      failing,
    ])
    const decide = (visit: Parameters<typeof requestFrom>[0]) =>
      policy.decide({
        ...requestFrom(visit),
        tallies,
        facts: { request: { path: '/' } } as AccessRequest['facts'],
      })
    const known = { isMatch: true, left: 0 }
    const none = { ...known, rule: null, number: null }
    for (const [visit, error, cause, seen, hit] of [
      [
        { userAgent: 'bot' },
        'legal_block',
        'access rule of the API of site',
        { ...known, by: 'rule', rule: ofApi, number: null },
        ofApi,
      ],
      [{ address: '10.0.0.1' }, 'allow', null, { ...known, by: 'rule', rule: allowing, number: 1 }, allowing],
      [
        { referer: 'https://a.test/' },
        'hotlinking_denied',
        'access rule 2 of site: no a',
        { ...known, by: 'rule', rule: denying, number: 2 },
        denying,
      ],
      [
        { paths: null },
        'access_protection_error',
        'access rule 3 of site',
        { by: 'rule', rule: failing, number: 3, isMatch: false, left: 0 },
        failing,
      ],
      [{}, 'default_deny_policy', 'default of site', { ...none, by: 'default' }, 'default'],
      [
        { address: '192.0.2.9' },
        'malicious_activity_banned',
        'ban of site',
        { ...none, by: 'ban', left: 60_000 },
        'ban',
      ],
    ] as const) {
      if (seen.by === 'ban') for (let i = 0; i < 2; i++) policy.note('192.0.2.9')
      const verdict = decide(visit)
      assert.deepEqual(
        [
          told(verdict),
          verdict === null || verdict === 'allow' ? null : (verdict.cause as { code: string }).code,
        ],
        [error, cause],
      )
      const { visit: input, ...decision } = decisions.pop()!
      assert.deepEqual(decision, { ...seen, zone: 'site', verdict })
      assert.equal(input === null, seen.by !== 'rule')
      book.flush()
      assert.deepEqual([...hits], [[typeof hit === 'string' ? hit : ruleIdOf(hit), 1]])
      hits.clear()
    }
    const { allowed, denied, legal, failed, banned } = metrics.access
    const counts = [allowed.ip, denied.referer, denied.default, legal.user_agent, failed.expression, banned]
    assert.deepEqual(
      counts.map(({ value }) => value),
      [1, 1, 1, 1, 1, 1],
    )
    assert.deepEqual(
      [denied.user_agent.value, legal.referer.value, metrics.expressionFailures.access.value],
      [0, 0, 1],
    )
    const onPath = new AccessPolicy(
      { ...openAccess, rules: [rule({ kind: 'path', prefixes: ['/x'] })], ban },
      'site',
      parts,
    )
    assert.equal(told(onPath.decide(requestFrom({ paths: null }))), 'access_protection_error')
    assert.deepEqual([failed.path.value, metrics.expressionFailures.access.value], [1, 1])
    assert.equal(told(onPath.decide(requestFrom({ address: '192.0.2.9' }))), 'malicious_activity_banned')
    assert.equal(decisions.length, 0)
    policyOf({}).note('192.0.2.9')
  })

  test('has many rules on paths see every reading of one', () => {
    const prefixes = ['/a', '/b', '/c', '/d', '/e/f']
    const policyThat = (action: AccessRule['action']) =>
      policyOf({ rules: prefixes.map(prefix => rule({ kind: 'path', prefixes: [prefix] }, action)) })
    const denying = policyThat('deny')
    for (const paths of [['/e/f'], ['/', '/e/f/g'], ['/x', '/', '/c?q'], ['/d/']])
      assert.equal(told(denying.decide(requestFrom({ paths }))), 'firewall_rule_blocked', paths.join())
    for (const paths of [['/e'], ['/', '/ab'], ['/e/fg', '/x/a']])
      assert.equal(denying.decide(requestFrom({ paths })), null, paths.join())
    assert.equal(policyThat('allow').decide(requestFrom({ paths: ['/', '/a'] })), null)
    assert.equal(policyThat('allow').decide(requestFrom({ paths: ['/a/b', '/a'] })), 'allow')
    assert.equal(told(denying.decide(requestFrom({ paths: null }))), 'access_protection_error')
  })

  test('decides each request as if it came alone and rules were asked one by one', () => {
    const who = fc.record({
      address: fc.constantFrom('192.0.2.1', '192.0.2.2', '10.0.0.1', '2001:db8::1', '2001:db8::2', ''),
      userAgent: fc.constantFrom('', 'bot', 'Bot', 'curl/8', 'a browser'),
      country: fc.constantFrom('DE', 'FR', '', null),
      network: fc.constantFrom(64_500, 0, null),
    })
    const what = fc.record({
      paths: fc.option(fc.subarray(['/', '/a', '/ab', '/a/b?c', '/b/', '/c/d'], { minLength: 1 })),
      referer: fc.constantFrom('', 'https://a.test/', 'https://b.test/x'),
    })
    const condition: fc.Arbitrary<AccessCondition> = fc.oneof(
      fc
        .subarray(['192.0.2.1', '10.0.0.0/8', '2001:db8::/32', '192.0.2.0/31'])
        .map(networks => ({ kind: 'ip' as const, networks })),
      fc.subarray(['', 'bot', 'curl/*', '*b*']).map(patterns => ({ kind: 'user_agent' as const, patterns })),
      fc.subarray(['/a', '/b', '/b/', '/a/b']).map(prefixes => ({ kind: 'path' as const, prefixes })),
      fc.subarray(['a.test', 'b.test']).map(hosts => ({ kind: 'referer' as const, hosts })),
      fc.subarray(['DE', 'FR']).map(countries => ({ kind: 'country' as const, countries })),
      fc.constant({ kind: 'asn' as const, numbers: [64_500] }),
    )
    const action = fc.constantFrom('allow' as const, 'deny' as const, 'legal' as const)
    const rules = fc.array(
      fc.tuple(condition, action).map(([what, does]) => rule(what, does)),
      { maxLength: 16 },
    )
    // Each client asks up to three times in a row: what is remembered of it counts from the second time on.
    const clients = fc.array(fc.tuple(who, fc.array(what, { minLength: 1, maxLength: 3 })), {
      minLength: 1,
      maxLength: 10,
    })
    fc.assert(
      fc.property(rules, clients, fc.constantFrom('allow', 'deny'), (some, all, otherwise) => {
        let place: Place = unknown
        const policy = policyOf({ rules: some, otherwise }, () => place)
        const visits = all.flatMap(([who, asks]) => asks.map(ask => ({ ...who, ...ask })))
        for (const visit of visits) {
          place = visit
          const oneByOne = [...some.map(rule => ({ rules: [rule] })), { otherwise }]
          const expected = oneByOne
            .map(config => policyOf(config, () => place).decide(requestFrom(visit)))
            .find(verdict => verdict !== null)
          assert.equal(told(policy.decide(requestFrom(visit))), told(expected ?? null))
        }
      }),
      { numRuns: thorough(300, 100) },
    )
  })
})

interface Place {
  readonly country: string | null
  readonly network: number | null
}

const unknown: Place = { country: '', network: 0 }

function policyOf(config: Partial<AccessConfig>, place: (() => Place) | null = null): AccessPolicy {
  return new AccessPolicy({ ...openAccess, ...config }, 'site', partsOf(place))
}

function partsOf(place: (() => Place) | null): AccessParts {
  const lists = {
    get: () => {
      throw new Error('there are no lists')
    },
  }
  return {
    lists,
    geo: place && { countryOf: () => place().country, networkOf: () => place().network },
    bans: new Bans(new ManualClock()),
    metrics: new EdgeMetrics(),
  }
}

function requestFrom({
  address = '192.0.2.1',
  userAgent = '',
  paths = ['/'] as readonly string[] | null,
  referer = '',
}): AccessRequest {
  const facts = {} as AccessRequest['facts'] // that no expression asks for
  return {
    address,
    tallies: new TallyBook(new ManualClock(), () => {}).scope('none'),
    paths,
    fields: [
      ...(userAgent === '' ? [] : ['User-Agent', userAgent]),
      ...(referer === '' ? [] : ['Referer', referer]),
    ],
    facts,
    work: new Work(),
  }
}

function told(verdict: AccessVerdict): string | null {
  return verdict === null || verdict === 'allow' ? verdict : verdict.error
}
