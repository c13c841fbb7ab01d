import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { flawsOfPolicy, hasPolicyLimits } from '../../../src/budgets/policies/compile.ts'
import { policyBuckets, type PolicyTrace } from '../../../src/budgets/policies/decide.ts'
import type { Policy } from '../../../src/store/records/policy.ts'
import { gateway } from '../../store/contract-specimens.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { ada, block, decide, free, limit, nobody, policy } from './specimens.ts'

const noon = Date.UTC(2026, 2, 10, 12)

/** Says what becomes of a call: the decision, and the policy that made it. */
function verdict(...call: Parameters<typeof decide>): string {
  const decision = decide(...call)
  return decision.type === 'no_match' ? decision.type : `${decision.type} ${decision.policy.id}`
}

function bucketsOf(...call: Parameters<typeof decide>) {
  const decision = decide(...call)
  ok(decision.type === 'allow')
  return policyBuckets(decision.limits, noon)
}

test('a call that no policy matches is refused, and a block wins over what allows', () => {
  const allow = policy('a', free, { resource: { model: 'gpt-4*' } })
  equal(verdict([allow]), 'allow a')
  equal(verdict([allow], { model: 'o3' }), 'no_match')
  equal(verdict([allow, policy('b', block, { resource: { provider: 'openai' } })]), 'block b')
  equal(verdict([allow, policy('b', block, { resource: { provider: 'anthropic' } })]), 'allow a')
})

test('a resource names models with their provider or without, and stars stand for any text', () => {
  for (const model of ['gpt-4o', 'openai/gpt-4o', 'openai/*', '*4o', 'GPT-4O', ['o3', 'gpt-*']])
    equal(verdict([policy('a', free, { resource: { model } })]), 'allow a', String(model))
  for (const model of ['gpt-4', 'anthropic/gpt-4o', 'azure/*'])
    equal(verdict([policy('a', free, { resource: { model } })]), 'no_match', model)
  equal(verdict([policy('a', free, { resource: { provider: ['x', 'open*'] } })]), 'allow a')
})

test('a pattern with a provider allows no model of a router that is called so, and a name no provider', () => {
  const routed = { provider: 'openrouter', model: 'openai/gpt-4o' }
  const allowing = ['openrouter/*', 'openrouter/openai/*', '*/gpt-4o', '*gpt-4o*', '*']
  const others = ['openai/*', 'openai/gpt-4o', 'openrouter*', '*router*']
  for (const model of [...allowing, ...others]) {
    const resource = { model }
    const isAllowing = allowing.includes(model)
    for (const action of [free, limit(1)])
      equal(verdict([policy('a', action, { resource })], routed), isAllowing ? 'allow a' : 'no_match', model)
    const only = policy('b', { type: 'block', except: true }, { resource })
    equal(verdict([policy('a', free), only], routed), isAllowing ? 'allow a' : 'block b', model)
    equal(verdict([policy('a', free), policy('b', block, { resource })], routed), 'block b', model)
  }
  equal(verdict([policy('a', free, { resource: { model: 'o*' } })]), 'no_match', 'openai is no model')
})

test('a block with an exception blocks all but its resource', () => {
  const only = policy('b', { type: 'block', except: true }, { resource: { provider: 'openai' } })
  equal(verdict([policy('a', free), only]), 'allow a')
  equal(verdict([policy('a', free), only], { provider: 'groq' }), 'block b')
})

test('an unknown model is blocked by whatever blocks any model, and allowed by nothing about models', () => {
  const unknown = { model: null }
  const [gpts, rest] = [{ model: 'gpt-*' }, policy('r', free)]
  equal(verdict([rest, policy('b', block, { resource: gpts })], unknown), 'block b')
  equal(verdict([rest, policy('b', { type: 'block', except: true }, { resource: gpts })], unknown), 'block b')
  equal(verdict([policy('a', free, { resource: gpts })], unknown), 'no_match')
  equal(verdict([policy('a', free, { condition: 'model != "o3"' })], unknown), 'no_match')
  equal(verdict([policy('a', free, { resource: { provider: 'openai' } })], unknown), 'allow a')
})

test('a limit counts a call whose model it would have to know, and does not allow it', () => {
  const unknown = { model: null }
  const [all, little] = [policy('a', free), policy('l', limit(1), { resource: { model: 'gpt-*' } })]
  equal(verdict([little], unknown), 'no_match')
  for (const counting of [
    little,
    policy('l', limit(1), { condition: 'model.startsWith("gpt-")' }),
    policy('l', limit(1), { resource: { model: 'o3' }, condition: 'model != "gpt-4o"' }),
  ])
    deepEqual(
      bucketsOf([all, counting], unknown).map(({ rule }) => rule.id),
      ['l'],
    )
  for (const other of [
    { actor: 'user:u2' },
    { actor: 'team:ads' },
    { condition: 'user.id == "u2"' },
    { condition: 'metadata.plan == "pro"' },
    { condition: 'metadata.plan == "pro"', resource: { model: 'gpt-*' } },
    { condition: '["x"].exists(model, model == metadata.plan)' },
  ])
    deepEqual(bucketsOf([all, policy('l', limit(1), other)], unknown), [], JSON.stringify(other))
})

test('an actor is an id, an address, a team, or each identity of a kind', () => {
  const search = { metadata: { team: 'search', seat: 7 } }
  for (const [actor, caller] of [
    ['user:u1', ada],
    ['user:ADA@corp.example', ada],
    ['user:{svc.user.id}', ada],
    ['token:t1', ada],
    ['token:{svc.token.id}', ada],
    ['app:c1', { ...ada, app: 'c1' }],
    ['app:{svc.app.id}', { ...ada, app: 'c1' }],
    ['team:search', nobody],
    ['team:{metadata.team}', nobody],
    ['user:{metadata.seat}', nobody],
  ] as const)
    equal(verdict([policy('a', free, { actor })], search, caller), 'allow a', actor)
  for (const actor of ['user:u2', 'token:t2', 'app:c1', 'team:ads', 'app:{svc.app.id}', 'team:{metadata.x}'])
    equal(verdict([policy('a', free, { actor })], search), 'no_match', actor)
})

test('a missing identity is blocked, and not allowed; a proven one that differs is not blocked', () => {
  const all = policy('a', free)
  for (const actor of ['team:ads', 'team:{metadata.team}', 'app:{svc.app.id}', 'user:{metadata.user_id}']) {
    equal(verdict([all, policy('b', block, { actor })]), 'block b', actor)
    equal(verdict([policy('a', free, { actor })]), 'no_match', actor)
  }
  const other = policy('b', block, { actor: 'user:mallory@corp.example' })
  equal(verdict([all, other]), 'allow a')
  equal(verdict([all, policy('b', block, { actor: 'app:c1' })]), 'allow a')
  equal(verdict([all, other], {}, nobody), 'block b')
  equal(verdict([all, policy('b', block, { actor: 'team:ads' })], { metadata: { team: '' } }), 'block b')
})

test('a condition that fails blocks, and does not allow', () => {
  const condition = 'metadata.plan == "free"'
  const [all, blocked] = [policy('a', free), policy('b', block, { condition })]
  equal(verdict([all, blocked]), 'block b')
  equal(verdict([all, blocked], { metadata: { plan: 'pro' } }), 'allow a')
  equal(verdict([policy('a', free, { condition })]), 'no_match')
  equal(verdict([policy('a', free, { condition })], { metadata: { plan: 'free' } }), 'allow a')
})

test('a committed policy that is not understood any more blocks, and does not allow', () => {
  for (const broken of [{ condition: 'user.' }, { actor: 'nobody' }]) {
    equal(verdict([policy('a', free), policy('b', block, broken)]), 'block b')
    equal(verdict([policy('a', free, broken)]), 'no_match')
    equal(verdict([policy('a', limit(1), broken)]), 'no_match')
    equal(
      verdict([policy('a', free), policy('l', limit(1), broken)]),
      'no_match',
      'the limit might govern it',
    )
  }
})

test('all limits count, and of several for the same calls and period the highest', () => {
  const each = policy('each', limit(10), { actor: 'user:{svc.user.id}' })
  const more = policy('more', limit(50), { actor: 'user:ada@corp.example' })
  const monthly = policy('month', limit(100, 'monthly'), { actor: 'user:{svc.user.id}' })
  const total = policy('total', limit(1000))
  const buckets = bucketsOf([each, more, monthly, total, policy('free', free)])
  deepEqual(
    buckets.map(({ rule }) => [rule.id, rule.limit]),
    [
      ['more', 50e9],
      ['month', 100e9],
      ['total', 1000e9],
    ],
  )
  for (const both of [
    [each, more],
    [more, each],
  ])
    deepEqual(
      bucketsOf(both).map(({ rule }) => rule.limit),
      [50e9],
    )
  const [own] = bucketsOf([each])
  equal(own!.bucket, buckets[0]!.bucket)
  notEqual(bucketsOf([each], {}, { ...ada, user: 'u2' })[0]!.bucket, own!.bucket)
})

test('what is spent stays with what is counted, whatever its policy is called or allows', () => {
  const key = (more: Partial<Policy>, action = limit(10)) =>
    bucketsOf([policy('a', action, { actor: 'user:u1', ...more })])[0]!.bucket
  const own = key({})
  equal(key({ id: 'b', name: 'Other' }, limit(20)), own)
  equal(key({ resource: { model: ['gpt-*', 'o*'] } }), key({ resource: { model: ['o*', 'gpt-*', 'o*'] } }))
  const others = [
    key({ actor: '*' }),
    key({ actor: 'token:t1' }),
    key({ resource: { model: '*' } }),
    key({ condition: 'true' }),
    key({}, limit(10, 'weekly')),
  ]
  equal(new Set([own, ...others]).size, 6)
})

test('an identity in metadata never spends the budget of one that is proven', () => {
  const proven = bucketsOf([policy('a', limit(1), { actor: 'user:{svc.user.id}' })])
  const claimed = policy('a', limit(1), { actor: 'user:{metadata.user_id}' })
  notEqual(bucketsOf([claimed], { metadata: { user_id: 'u1' } })[0]!.bucket, proven[0]!.bucket)
})

test('a window ends with its hour, day, week or month, in its time zone', () => {
  const endOf = (action: Policy['action']) => {
    const { window } = bucketsOf([policy('a', action)])[0]!
    return window.kind === 'fixed' ? new Date(window.until).toISOString() : window.kind
  }
  equal(endOf(limit(1, 'hourly')), '2026-03-10T13:00:00.000Z')
  equal(endOf(limit(1)), '2026-03-11T00:00:00.000Z')
  equal(endOf({ ...limit(1), timeZone: 'Europe/Berlin' }), '2026-03-10T23:00:00.000Z')
  equal(endOf(limit(1, 'weekly')), '2026-03-16T00:00:00.000Z')
  equal(endOf(limit(1, 'monthly')), '2026-04-01T00:00:00.000Z')
})

test('a trace says of each policy whether it applies, and what decides that', () => {
  const trace: PolicyTrace[] = []
  decide(
    [
      policy('actor', free, { actor: 'user:u2' }),
      policy('resource', free, { resource: { model: 'o3' } }),
      policy('condition', block, { condition: 'metadata.plan == "free"' }),
      policy('all', free),
    ],
    {},
    ada,
    trace,
  )
  deepEqual(
    trace.map(({ policy, applies, part, isUnknown }) => [policy.id, applies, part, isUnknown]),
    [
      ['actor', false, 'actor', false],
      ['resource', false, 'resource', false],
      ['condition', true, 'condition', true],
      ['all', true, null, false],
    ],
  )
})

test('a trace says what cannot be known, also of an exception', () => {
  const trace: PolicyTrace[] = []
  const only: Policy['action'] = { type: 'block', except: true }
  decide([policy('b', only, { resource: { model: 'o3' } })], { model: null }, ada, trace)
  deepEqual(
    trace.map(({ applies, part, isUnknown }) => [applies, part, isUnknown]),
    [[true, 'resource', true]],
  )
})

test('a condition reads who calls, what, and at which gateway', () => {
  const condition = 'gateway == "default" && user.id == "u1" && provider == "openai" && model == "gpt-4o"'
  equal(verdict([policy('a', free, { condition })]), 'allow a')
  equal(verdict([policy('a', free, { condition: condition.replace('default', 'other') })]), 'no_match')
})

test('whether policies have limits is known of what is in effect alone', () => {
  const of = (policies?: readonly Policy[]) =>
    hasPolicyLimits({ ...gateway(), ...(policies !== undefined && { policies }) })
  equal(of(), false)
  equal(of([policy('a', free), policy('b', block)]), false)
  equal(of([policy('a', free), policy('b', limit(1))]), true)
})

/** Takes too many steps for a long text. */
const slow = 'metadata.text.split("").filter(a, a != "b").size() > 0'

test('conditions that would take too long decide nothing in favour of a call', () => {
  const call = { metadata: { text: 'x'.repeat(4_000) } }
  equal(verdict([policy('a', free, { condition: slow })], { metadata: { text: 'x' } }), 'allow a')
  equal(verdict([policy('a', free, { condition: slow })], call), 'no_match')
  equal(verdict([policy('a', free), policy('b', block, { condition: slow })], call), 'block b')
})

test('a call does not escape a limit by metadata with which conditions take too long', () => {
  const call = { metadata: { text: 'x'.repeat(4_000) } }
  const own = policy('l', limit(1), { condition: 'user.id == "u1"' })
  const [all, another] = [policy('a', free), policy('s', free, { condition: slow })]
  equal(verdict([all, own, another], call), 'allow a')
  equal(verdict([all, another, own], call), 'no_match')
  equal(verdict([all, policy('l', limit(1), { condition: slow })], call), 'no_match')
  equal(verdict([all, another], call), 'allow a')
})

test('any policies decide any call, as the rules of their parts say', () => {
  const names = fc.constantFrom('u1', 'u2', 'ada@corp.example', '{svc.user.id}', '{metadata.team}', 'x')
  const actor = fc.oneof(
    fc.constant('*'),
    fc.tuple(fc.constantFrom('user', 'team', 'app', 'token'), names).map(parts => parts.join(':')),
    fc.string({ unit: anyCharacter, maxLength: 8 }),
  )
  const glob = fc.constantFrom('*', 'gpt-*', 'o3', 'openai/*', '')
  const resource = fc.oneof(
    fc.constant('*' as const),
    fc.record({ model: fc.oneof(glob, fc.array(glob, { minLength: 1 })) }),
    fc.record({ provider: glob }),
  )
  const condition = fc.option(
    fc.constantFrom('true', 'false', 'metadata.team == "x"', 'user.id == "u1"', 'nonsense('),
    { nil: undefined },
  )
  const action = fc.constantFrom(block, { type: 'block', except: true } as const, free, limit(1), limit(2))
  const some = fc.array(fc.record({ id: fc.uuid(), name: fc.string(), actor, resource, condition, action }), {
    maxLength: 6,
  }) as fc.Arbitrary<Policy[]>
  const identity = fc.constantFrom('u1', 'u2', null)
  const caller = fc.record({ token: identity, app: identity, user: identity, email: identity })
  const metadata = fc.option(fc.dictionary(fc.constantFrom('team', 'a'), fc.constantFrom('x', '', 1, null)))
  const call = fc.record({
    provider: fc.constantFrom('openai', 'groq'),
    model: fc.constantFrom('gpt-4o', 'o3', null),
    metadata,
  })
  fc.assert(
    fc.property(some, call, caller, (policies, call, caller) => {
      const trace: PolicyTrace[] = []
      const decision = decide(policies, call, caller, trace)
      const short = decide(policies, call, caller)
      deepEqual(
        [short.type, 'policy' in short && short.policy],
        [decision.type, 'policy' in decision && decision.policy],
      )
      equal(trace.length, policies.length)
      const applying = trace.filter(({ applies }) => applies).map(({ policy }) => policy)
      const blocks = applying.filter(({ action }) => action.type === 'block')
      for (const { policy, applies, isUnknown } of trace)
        if (isUnknown) equal(applies, policy.action.type === 'block')
      if (blocks.length > 0) return deepEqual(decision, { type: 'block', policy: blocks[0] })
      const isUndecided = trace.some(
        ({ policy, isUnknown }) =>
          isUnknown && policy.action.type === 'limit' && flawsOfPolicy(policy).length > 0,
      )
      if (applying.length === 0 || isUndecided) return deepEqual(decision, { type: 'no_match' })
      ok(decision.type === 'allow')
      const limits = trace.filter(({ isCounted }) => isCounted).map(({ policy }) => policy)
      for (const { policy, applies, isCounted, isUnknown } of trace) {
        if (policy.action.type !== 'limit' || !isUnknown)
          equal(isCounted, applies && policy.action.type === 'limit')
        else if (isCounted) equal(call.model, null)
      }
      deepEqual(
        decision.limits.map(({ policy }) => policy),
        limits,
      )
      const buckets = policyBuckets(decision.limits, noon)
      equal(new Set(buckets.map(({ bucket }) => bucket)).size, buckets.length)
      equal(buckets.length > 0, limits.length > 0)
    }),
  )
})
