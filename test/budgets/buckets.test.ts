import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { bucketsOf, type CallFacts, callerOf, isGoverned, rulesOfGateway } from '../../src/budgets/buckets.ts'
import type { Criterion, SpendRule } from '../../src/store/records/budget-rule.ts'
import type { Gateway, Token } from '../../src/store/records/records.ts'
import { anyCharacter } from '../help/any-text.ts'
import { account, tokenWith } from '../tokens/token-with.ts'

const now = Date.parse('2031-05-14T12:34:56.789Z')
const partition: Criterion = { mode: 'partition' }
const only = (...values: readonly string[]): Criterion => ({ mode: 'filter', values })
const call: CallFacts = {
  provider: 'openai',
  model: 'gpt-4o',
  metadata: { team: 'search', n: 1, none: null },
}

function rule(more: Partial<SpendRule> = {}): SpendRule {
  return {
    ...{ id: 'r', isEnabled: true, unit: 'cost', limit: 1, window: 3600, technique: 'fixed' },
    whenUnreachable: 'closed',
    ...more,
  }
}

function gatewayWith(...rules: readonly SpendRule[]): Gateway {
  return {
    ...{ account, id: 'default', authentication: true, collectLogs: false, logManagement: 0 },
    ...{ logManagementStrategy: 'DELETE_OLDEST', createdAt: 0, modifiedAt: 0 },
    spendLimits: { isEnabled: true, rules },
  }
}

const user = { user: 'a'.repeat(32), email: 'Ada@example.com' }
const own = tokenWith({ person: { ...user, member: 'm' } }).token
const plain = tokenWith().token
const acting = tokenWith({
  actor: {
    ...{ ...user, client: 'c'.repeat(32), clientName: 'app', grant: 'd'.repeat(32), end: null },
    ...{ members: [], scopes: [], apis: [] },
  },
}).token

/** Returns the bucket in which a call counts by a single rule. */
function bucketOf(one: SpendRule, facts: Partial<CallFacts> = {}, token: Token | null = plain, at = now) {
  const [bucket, ...more] = bucketsOf(gatewayWith(one), token, { ...call, ...facts }, at)
  assert.deepEqual(more, [])
  return bucket
}

const keyOf = (...args: Parameters<typeof bucketOf>) => bucketOf(...args)?.bucket

test('a rule has its limit in whole units, and its window at that time', () => {
  assert.deepEqual(bucketOf(rule({ limit: 0.1 }))?.rule, {
    ...{ id: 'r', owner: 'gateway', unit: 'cost', limit: 100_000_000 },
    ...{ words: '$0.10 every hour', period: 3_600_000, whenUnreachable: 'closed' },
  })
  assert.equal(bucketOf(rule({ limit: 123_456.123456789 }))?.rule.limit, 123_456_123_456_789)
  assert.equal(bucketOf(rule({ unit: 'tokens', limit: 5 }))?.rule.limit, 5)
  const windowOf = (more: Partial<SpendRule>) => bucketOf(rule(more))?.window
  assert.deepEqual(windowOf({}), { kind: 'fixed', until: Date.parse('2031-05-14T13:00:00Z') })
  assert.deepEqual(windowOf({ window: 'week' }), { kind: 'fixed', until: Date.parse('2031-05-19T00:00:00Z') })
  assert.deepEqual(windowOf({ technique: 'sliding' }), { kind: 'sliding', period: 3_600_000 })
  assert.deepEqual(windowOf({ unit: 'concurrency', window: null }), { kind: 'none' })
  const berlin = { window: 'day', timeZone: 'Europe/Berlin' } as const
  assert.deepEqual(windowOf(berlin), { kind: 'fixed', until: Date.parse('2031-05-14T22:00:00Z') })
})

test('windows of seconds are those since the epoch, each with a bucket of its own', () => {
  const week = rule({ window: 7 * 86_400 })
  const gateway = gatewayWith(week)
  const at = (time: number) => bucketsOf(gateway, null, call, time)[0]!
  const edge = 100 * 7 * 86_400_000
  assert.deepEqual(at(edge).window, { kind: 'fixed', until: edge + 7 * 86_400_000 })
  assert.deepEqual(at(edge - 1).window, { kind: 'fixed', until: edge })
  assert.notEqual(at(edge).bucket, at(edge - 1).bucket)
  assert.equal(at(edge).bucket, at(edge + 7 * 86_400_000 - 1).bucket)
  const sliding = rule({ technique: 'sliding' })
  assert.equal(keyOf(sliding), keyOf(sliding, {}, plain, now + 1e9))
})

test('the same object comes back while its window lasts, and calls like the one before share a list', () => {
  const gateway = gatewayWith(rule({ metadata: { team: partition } }))
  const [first] = bucketsOf(gateway, plain, call, now)
  assert.equal(bucketsOf(gateway, plain, { ...call }, now + 1)[0], first)
  const limited = { ...plain, spendLimits: { isEnabled: true, rules: [rule()] } }
  const idle = { ...plain, spendLimits: { isEnabled: true, rules: [rule({ provider: only('azure') })] } }
  const without = { ...gateway, spendLimits: null }
  for (const [place, token] of [
    [gateway, plain],
    [gateway, idle],
    [without, limited],
  ] as const) {
    const list = bucketsOf(place, token, call, now)
    assert.equal(bucketsOf(place, token, { ...call }, now + 1), list)
  }
  assert.notEqual(bucketsOf(gateway, plain, { ...call }, now + 3_600_000)[0], first)
})

test('a changed limit keeps the bucket; what is counted, and for whom, makes it another', () => {
  const base = keyOf(rule())
  const filtered = rule({ provider: only('openai') })
  for (const same of [rule({ limit: 2 }), rule({ whenUnreachable: 'open' }), filtered])
    assert.equal(keyOf(same), base)
  const others = [
    rule({ id: 's' }),
    rule({ unit: 'tokens' }),
    rule({ window: 7200 }),
    rule({ window: 'day' }),
    rule({ window: 'day', timeZone: 'Europe/Berlin' }),
    rule({ technique: 'sliding' }),
    rule({ provider: partition }),
    rule({ metadata: { team: partition } }),
    rule({ metadata: { stage: partition } }),
  ]
  const keys = [base, ...others.map(one => keyOf(one))]
  assert.equal(new Set(keys).size, keys.length)
  const inUtc = rule({ window: 'day', timeZone: 'UTC' })
  assert.equal(keyOf(inUtc), keyOf(rule({ window: 'day' })))
  const [one, two] = [
    { a: partition, b: partition },
    { b: partition, a: partition },
  ]
  assert.equal(keyOf(rule({ metadata: one })), keyOf(rule({ metadata: two })))
  const elsewhere = [{ id: 'other' }, { account: 'f'.repeat(32) }]
  for (const place of elsewhere)
    assert.notEqual(bucketsOf({ ...gatewayWith(rule()), ...place }, plain, call, now)[0]!.bucket, base)
})

test('rules that are off do not govern, nor do limits that are', () => {
  assert.deepEqual(bucketsOf(gatewayWith(rule({ isEnabled: false })), plain, call, now), [])
  const off = { ...gatewayWith(), spendLimits: { isEnabled: false, rules: [rule()] } }
  const limited = { ...plain, spendLimits: off.spendLimits }
  for (const gateway of [off, { ...off, spendLimits: null }]) {
    assert.deepEqual(bucketsOf(gateway, limited, call, now), [])
    for (const token of [limited, plain, null]) assert.equal(isGoverned(gateway, token), false)
    const spendLimits = { ...off.spendLimits, isEnabled: true }
    assert.equal(isGoverned(gateway, { ...plain, spendLimits }), true)
    assert.equal(isGoverned({ ...gateway, spendLimits }, null), true)
  }
})

test('filters take exact values; models with their provider or without, people by id or address', () => {
  const governs = (criteria: Partial<SpendRule>, facts?: Partial<CallFacts>, token?: Token | null) =>
    bucketOf(rule(criteria), facts, token) !== undefined
  assert.ok(governs({ model: only('x', 'gpt-4o') }))
  assert.ok(governs({ model: only('openai/gpt-4o') }))
  assert.ok(!governs({ model: only('gpt-4', 'azure/gpt-4o', 'gpt-*') }))
  assert.ok(governs({ model: only('GPT-4o') }))
  assert.ok(governs({ model: only('openai/GPT-4o') }, { model: 'GPT-4O' }), 'which some providers take')
  assert.ok(governs({ model: only('o3') }, { otherModels: ['O3'] }))
  assert.ok(governs({ model: only('x') }, { model: null }), 'nobody knows which model it is')
  assert.ok(governs({ model: only('o3') }, { otherModels: ['gpt-4', 'o3'] }))
  assert.ok(governs({ model: only('openai/o3') }, { otherModels: ['o3'] }))
  assert.ok(governs({ model: only('x') }, { otherModels: [null] }))
  assert.ok(!governs({ model: only('x') }, { otherModels: ['o3'] }))
  assert.ok(governs({ provider: only('openai') }))
  assert.ok(!governs({ provider: only('anthropic') }))
  assert.ok(governs({ metadata: { team: only('search'), n: only('1') } }))
  assert.ok(!governs({ metadata: { team: only('search'), n: only('2') } }))
  assert.ok(!governs({ metadata: { none: only('null') } }))
  assert.ok(!governs({ metadata: { toString: only('x') } }))
  assert.ok(!governs({ metadata: { team: only('search') } }, { metadata: null }))
  assert.ok(!governs({ metadata: { team: only('Search') } }), 'which is another value')
  assert.ok(governs({ token: only(plain.id) }))
  assert.ok(!governs({ token: only(plain.id) }, {}, null))
  assert.ok(governs({ token: only('d'.repeat(32)) }, {}, acting))
  assert.ok(governs({ app: only('c'.repeat(32)) }, {}, acting))
  assert.ok(!governs({ app: only('c'.repeat(32)) }, {}, own))
  for (const token of [own, acting]) {
    assert.ok(governs({ person: only('a'.repeat(32)) }, {}, token))
    assert.ok(governs({ person: only('ADA@example.com') }, {}, token))
  }
  assert.ok(!governs({ person: only('ada@example.com') }, {}, plain))
  assert.ok(!governs({ provider: only('openai'), token: only('x') }))
})

test('each value of a partition has a bucket, and so have calls without one', () => {
  const distinct = (criteria: Partial<SpendRule>, ...calls: [Partial<CallFacts>, (Token | null)?][]) => {
    const keys = calls.map(([facts, token]) => keyOf(rule(criteria), facts, token))
    assert.equal(new Set(keys).size, keys.length, JSON.stringify(criteria))
  }
  distinct({ model: partition }, [{}], [{ model: 'gpt' }], [{ model: null }], [{ provider: 'azure' }])
  const others = { otherModels: ['gpt'] }
  assert.equal(keyOf(rule({ model: partition }), others), keyOf(rule({ model: partition })))
  distinct({ provider: partition }, [{}], [{ provider: 'azure' }])
  distinct({ token: partition }, [{}], [{}, own], [{}, acting], [{}, null])
  distinct({ app: partition }, [{}], [{}, acting])
  distinct({ person: partition }, [{}], [{}, acting])
  assert.equal(keyOf(rule({ person: partition }), {}, own), keyOf(rule({ person: partition }), {}, acting))
  assert.equal(keyOf(rule({ app: partition }), {}, own), keyOf(rule({ app: partition }), {}, null))
  const team = (value: string | null) => ({ metadata: { team: value, stage: 'x' } })
  distinct({ metadata: { team: partition } }, [{}], [team('')], [team(null)], [team('x')], [team('-')])
  const inherited = rule({ metadata: { toString: partition } })
  assert.equal(keyOf(inherited), keyOf(inherited, { metadata: null }))
  const both = { metadata: { team: partition, stage: partition } }
  const pair = (team: string, stage: string) => ({ metadata: { team, stage } })
  distinct(both, [pair('a', 'b')], [pair('b', 'a')], [pair('', 'ab')], [pair('ab', '')], [pair('1:a', 'b')])
  distinct(
    both,
    [pair('-', '-')],
    [{ metadata: { team: '-' } }],
    [{ metadata: { stage: '-' } }],
    [{ metadata: null }],
  )
})

test('a token of nobody is told by itself alone', () => {
  assert.deepEqual(callerOf(plain), { token: plain.id, app: null, user: null, email: null })
})

test('the rules of a token come after those of the gateway, and count on all gateways together', () => {
  const spendLimits = { isEnabled: true, rules: [rule(), rule({ id: 't', provider: only('azure') })] }
  const limited = { ...plain, spendLimits }
  const [ofGateway, ofToken, ...more] = bucketsOf(gatewayWith(rule()), limited, call, now)
  assert.deepEqual(more, [])
  assert.deepEqual([ofGateway?.rule.owner, ofToken?.rule.owner], ['gateway', 'token'])
  assert.notEqual(ofGateway!.bucket, ofToken!.bucket)
  const elsewhere = { ...gatewayWith(), id: 'other', spendLimits: null }
  assert.equal(bucketsOf(elsewhere, limited, call, now)[0]!.bucket, ofToken!.bucket)
  const other = { ...tokenWith().token, spendLimits }
  assert.notEqual(bucketsOf(elsewhere, other, call, now)[0]!.bucket, ofToken!.bucket)
})

test('keys stay as they are, as a new version goes on with the budgets of the one before', () => {
  assert.equal(keyOf(rule()), 'iU7TWq4TOVQR4wbd.w0yk40')
  assert.equal(
    keyOf(rule({ metadata: { team: partition } })),
    'LOSwEO3xQVouHzFWJ3Box95ZCmYUne9DWWgMCd.w0yk40',
  )
  assert.equal(keyOf(rule({ window: 'day' })), 'uHyz6zxTBXmQVBxL.w0zeo0')
})

test('keys are short, have no text of the call, and are the same in every process', () => {
  const text = fc.oneof(fc.string({ unit: anyCharacter }), fc.constant('x'.repeat(5_000)))
  fc.assert(
    fc.property(text, text, (team, model) => {
      const one = rule({ metadata: { team: partition }, model: partition })
      const key = keyOf(one, { metadata: { team }, model })!
      assert.match(key, /^[A-Za-z0-9_-]{38}\.[0-9a-z]{6}$/)
      assert.equal(keyOf({ ...one }, { metadata: { team }, model }), key)
    }),
  )
})

test('spellings of a model that differ in case share a budget', () => {
  const one = rule({ model: partition })
  assert.equal(keyOf(one, { model: 'GPT-4o' }), keyOf(one, { model: 'gpt-4o' }))
})

test('more values than a process remembers get the same buckets again', () => {
  const gateway = gatewayWith(rule({ metadata: { team: partition } }))
  const key = (i: number) => bucketsOf(gateway, plain, { ...call, metadata: { team: i } }, now)[0]!.bucket
  const first = key(0)
  const keys = new Set(Array.from({ length: 5_000 }, (_, i) => key(i)))
  assert.equal(keys.size, 5_000)
  assert.equal(key(0), first)
})

test('the bucket of some values is that of the calls that have them, and is known by its key', () => {
  const rules = [
    rule(),
    rule({ id: 'two', metadata: { team: partition }, token: partition }),
    rule({ id: 'sliding', technique: 'sliding', model: partition }),
    rule({ id: 'held', unit: 'concurrency', window: null }),
  ]
  const gateway = gatewayWith(...rules)
  const buckets = bucketsOf(gateway, plain, call, now)
  const values = [[], [plain.id, 'search'], ['openai/gpt-4o'], []]
  const names = [[], ['token', 'metadata.team'], ['model'], []]
  const compiled = rulesOfGateway(gateway)
  for (const [i, one] of compiled.entries()) {
    assert.deepEqual(one.partitionedBy, names[i])
    assert.deepEqual(one.bucketWith(values[i]!, now), buckets[i])
    for (const [j, { bucket }] of buckets.entries())
      assert.deepEqual(one.bucketNamed(bucket, now), i === j ? buckets[i] : null)
    for (const wrong of ['', `${buckets[i]!.bucket}x`, buckets[i]!.bucket.slice(1)])
      assert.equal(one.bucketNamed(wrong, now), null)
  }
  assert.equal(compiled[0]!.bucketNamed(buckets[0]!.bucket, now + 3_600_000), null)
})
