import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { notBuilt, readGateway, readNewGateway } from '../../../src/admin/gateways/body.ts'
import type { Fault } from '../../../src/errors/catalogue/refusal.ts'
import type { Gateway } from '../../../src/store/records/records.ts'

const pointersOf = (result: unknown) => (result as Fault[]).map(({ pointer }) => pointer)

test('an id is enough: a token is then required, and no bodies are stored', () => {
  assert.deepEqual(readNewGateway({ id: 'mine' }), {
    id: 'mine',
    authentication: true,
    byokOnly: false,
    collectLogs: false,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    rateLimit: null,
    streamUsage: true,
    retry: null,
    onAbandon: 'abort',
    spendLimits: null,
    defaultMaxTokens: 4096,
    unpricedCost: null,
    cacheTtl: 0,
    isCacheInvalidatedOnUpdate: false,
    cacheScope: 'token',
    guard: null,
    hasIdempotencyKeys: false,
  })
})

test('settings are read, and null means as usual where published clients send it', () => {
  const body = {
    id: 'a',
    authentication: false,
    collect_logs: true,
    log_management: 5,
    log_management_strategy: 'STOP_INSERTING',
  }
  assert.deepEqual(readNewGateway(body), {
    id: 'a',
    authentication: false,
    byokOnly: false,
    collectLogs: true,
    logManagement: 5,
    logManagementStrategy: 'STOP_INSERTING',
    rateLimit: null,
    streamUsage: true,
    retry: null,
    onAbandon: 'abort',
    spendLimits: null,
    defaultMaxTokens: 4096,
    unpricedCost: null,
    cacheTtl: 0,
    isCacheInvalidatedOnUpdate: false,
    cacheScope: 'token',
    guard: null,
    hasIdempotencyKeys: false,
  })
  assert.deepEqual(
    readNewGateway({ id: 'a', log_management: null, log_management_strategy: null }),
    readNewGateway({ id: 'a' }),
  )
})

test('a rate limit is read; nothing, null and 0 turn it off', () => {
  const read = (body: object) => (readNewGateway({ id: 'a', ...body }) as { rateLimit: unknown }).rateLimit
  const set = { rate_limiting_limit: 10, rate_limiting_interval: 60 }
  assert.deepEqual(read(set), { limit: 10, interval: 60, technique: 'fixed' })
  assert.deepEqual(read({ ...set, rate_limiting_technique: 'sliding' }), {
    limit: 10,
    interval: 60,
    technique: 'sliding',
  })
  for (const key of ['token', 'app'] as const)
    assert.deepEqual(read({ ...set, rate_limiting_key: key }), {
      limit: 10,
      interval: 60,
      technique: 'fixed',
      key,
    })
  assert.deepEqual(read({ ...set, rate_limiting_key: 'gateway' }), {
    limit: 10,
    interval: 60,
    technique: 'fixed',
  })
  const nulls = {
    rate_limiting_key: null,
    rate_limiting_limit: null,
    rate_limiting_interval: null,
    rate_limiting_technique: null,
  }
  for (const off of [nulls, { rate_limiting_limit: 0, rate_limiting_interval: 0 }])
    assert.equal(read(off), null)
  assert.deepEqual(read({ rate_limiting_limit: 0, rate_limiting_technique: 'sliding' }), {
    limit: 0,
    interval: 0,
    technique: 'sliding',
  })
})

test('streamed chats are asked for their usage unless it is turned off', () => {
  const read = (body: object) =>
    (readNewGateway({ id: 'a', ...body }) as { streamUsage: unknown }).streamUsage
  assert.deepEqual([{}, { stream_usage: null }, { stream_usage: true }, { stream_usage: false }].map(read), [
    true,
    true,
    true,
    false,
  ])
  assert.deepEqual(pointersOf(readNewGateway({ id: 'a', stream_usage: 'no' })), ['/stream_usage'])
})

test('attempts and what follows a caller that leaves are read; null is the default', () => {
  const read = (body: object) => {
    const { retry, onAbandon } = readNewGateway({ id: 'a', ...body }) as Partial<Gateway>
    return [retry, onAbandon]
  }
  const set = { retry_max_attempts: 5, retry_delay: 0, retry_backoff: 'linear', on_abandon: 'drain' }
  assert.deepEqual(read(set), [{ maxAttempts: 5, delay: 0, backoff: 'linear' }, 'drain'])
  assert.deepEqual(read({ retry_delay: 5000 }), [{ maxAttempts: null, delay: 5000, backoff: null }, 'abort'])
  const nulls = Object.fromEntries(Object.keys(set).map(name => [name, null]))
  assert.deepEqual(read(nulls), [null, 'abort'])
  const wrong = { retry_max_attempts: 6, retry_delay: 5001, retry_backoff: 'fast', on_abandon: 'wait' }
  assert.deepEqual(
    pointersOf(readNewGateway({ id: 'a', ...wrong })).sort(),
    Object.keys(wrong)
      .map(name => `/${name}`)
      .sort(),
  )
})

test('what a call without a maximum or a price counts for is read; null is the default', () => {
  const read = (body: object) => {
    const { defaultMaxTokens, unpricedCost } = readNewGateway({ id: 'a', ...body }) as Partial<Gateway>
    return [defaultMaxTokens, unpricedCost]
  }
  assert.deepEqual(read({ default_max_tokens: 1_000_000, unpriced_cost: 0.000000001 }), [1_000_000, 1e-9])
  assert.deepEqual(read({ default_max_tokens: null, unpriced_cost: null }), [4096, null])
  for (const wrong of [
    ...[0, 1_000_001, 1.5, '5'].map(default_max_tokens => ({ default_max_tokens })),
    ...[0, -1, 1000.1, '5'].map(unpriced_cost => ({ unpriced_cost })),
    { spend_limits: { rules: {} } },
    { spend_limit: null },
  ])
    assert.deepEqual(
      pointersOf(readNewGateway({ id: 'a', ...wrong })),
      ['spend_limits' in wrong ? '/spend_limits/rules' : `/${Object.keys(wrong)[0]}`],
      JSON.stringify(wrong),
    )
})

test('a rate limit out of bounds, or without an interval, is refused by name', () => {
  const refused = (body: object) => pointersOf(readNewGateway({ id: 'a', ...body }))
  assert.deepEqual(refused({ rate_limiting_limit: 10 }), ['/rate_limiting_interval'])
  assert.deepEqual(refused({ rate_limiting_limit: 10, rate_limiting_interval: null }), [
    '/rate_limiting_interval',
  ])
  for (const limit of [-1, 1.5, '5', 1_000_000_001])
    assert.deepEqual(refused({ rate_limiting_limit: limit }), ['/rate_limiting_limit'], `${limit}`)
  for (const interval of [-1, 2_678_401, true])
    assert.deepEqual(refused({ rate_limiting_interval: interval }), ['/rate_limiting_interval'])
  assert.deepEqual(refused({ rate_limiting_technique: 'leaky' }), ['/rate_limiting_technique'])
  assert.deepEqual(refused({ rate_limiting_key: 'address' }), ['/rate_limiting_key'])
})

test('an unsupported feature is accepted when it is off, and refused by name when it is on', () => {
  assert.ok('id' in readNewGateway({ id: 'a', ...notBuilt }))
  const on = {
    zdr: true,
    guardrails: {},
    otel: [],
    logpush: 0,
  }
  assert.deepEqual(
    pointersOf(readNewGateway({ id: 'a', ...on })).sort(),
    Object.keys(on)
      .map(name => `/${name}`)
      .sort(),
  )
})

test('ids are 1 to 64 lower-case letters, digits, hyphens and underscores', () => {
  for (const id of ['', 'A', 'a b', 'a/b', 'é', 'a'.repeat(65), 7, null, ['a']])
    assert.deepEqual(pointersOf(readNewGateway({ id })), ['/id'], JSON.stringify(id))
  assert.deepEqual(readNewGateway({}), [{ code: 10002, message: 'id is required', pointer: '/id' }])
})

test('wrong types and bounds are refused, all at once', () => {
  const body = {
    id: 'a',
    authentication: 'on',
    collect_logs: 1,
    log_management: 10_000_001,
    log_management_strategy: 'NONE',
    other: 1,
  }
  assert.deepEqual(pointersOf(readNewGateway(body)).sort(), [
    '/authentication',
    '/collect_logs',
    '/log_management',
    '/log_management_strategy',
    '/other',
  ])
  for (const log_management of [-1, 1.5, '5', true])
    assert.deepEqual(pointersOf(readNewGateway({ id: 'a', log_management })), ['/log_management'])
})

test('the reuse of responses is read; null is the default', () => {
  const read = (body: object) => {
    const gateway = readNewGateway({ id: 'a', ...body }) as Partial<Gateway>
    return [gateway.cacheTtl, gateway.isCacheInvalidatedOnUpdate, gateway.cacheScope]
  }
  const set = { cache_ttl: 2_678_400, cache_invalidate_on_update: true, cache_scope: 'app' }
  assert.deepEqual(read(set), [2_678_400, true, 'app'])
  assert.deepEqual(read({ cache_ttl: 60, cache_scope: 'shared' }), [60, false, 'shared'])
  for (const value of [null, undefined]) {
    const usual = Object.fromEntries(Object.keys(set).map(name => [name, value]))
    assert.deepEqual(read(usual), [0, false, 'token'])
  }
  for (const ttl of [-1, 1, 59, 60.5, 2_678_401, '60'])
    assert.deepEqual(pointersOf(readNewGateway({ id: 'a', cache_ttl: ttl })), ['/cache_ttl'], `${ttl}`)
  const wrong = { cache_invalidate_on_update: 1, cache_scope: 'account' }
  const faults = pointersOf(readNewGateway({ id: 'a', ...wrong })).sort()
  assert.deepEqual(faults, ['/cache_invalidate_on_update', '/cache_scope'])
})

test('whether calls are made once is read; null is the default', () => {
  const read = (idempotency_keys: unknown) =>
    (readNewGateway({ id: 'a', idempotency_keys }) as Partial<Gateway>).hasIdempotencyKeys
  assert.deepEqual([true, false, null, undefined].map(read), [true, false, false, false])
  for (const idempotency_keys of [1, 'true', {}])
    assert.deepEqual(pointersOf(readNewGateway({ id: 'a', idempotency_keys })), ['/idempotency_keys'])
})

test('an update that does not mention authentication leaves it as it is', () => {
  assert.equal((readGateway({}, 'a') as { authentication: unknown }).authentication, null)
})

test('a gateway that was read may be written back, under its own id', () => {
  const got = {
    id: 'a',
    is_default: false,
    created_at: '2026-01-01T00:00:00Z',
    modified_at: '2026-01-01T00:00:00Z',
    ...notBuilt,
  }
  assert.ok('collectLogs' in readGateway(got, 'a'))
  assert.deepEqual(pointersOf(readGateway(got, 'b')), ['/id'])
})

test('any body is read or refused', () => {
  const names = [
    'id',
    'authentication',
    'collect_logs',
    'log_management',
    'rate_limiting_limit',
    'rate_limiting_interval',
    'rate_limiting_key',
    'rate_limiting_technique',
    'stream_usage',
    'retry_max_attempts',
    'retry_delay',
    'retry_backoff',
    'on_abandon',
    'cache_ttl',
    'cache_scope',
    'idempotency_keys',
    ...Object.keys(notBuilt),
    '__proto__',
    'x',
  ]
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...names), fc.jsonValue({ maxDepth: 1 }))),
      some => {
        const result = readNewGateway(some)
        return Array.isArray(result)
          ? result.length > 0
          : /^[a-z0-9_-]{1,64}$/.test((result as { id: string }).id)
      },
    ),
    { numRuns: 2_000 },
  )
})
