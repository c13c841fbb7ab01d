import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LimitKey, RateLimitConfig } from '../../../src/config/model/limit-config.ts'
import { rateLimitOf } from '../../../src/limits/limit.ts'
import type { NearKey } from '../../../src/limits/near-keys.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { tokenWith } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { zoneWith } from './zones.ts'

const other = '9'.repeat(32)

const limitBy = (name: string, ...key: LimitKey[]): RateLimitConfig => ({
  ...{ name, limit: 10, period: 60_000, key, when: null, action: 'block' },
})

const nearOf = (
  config: RateLimitConfig,
  key: string,
  used: number,
  members: Partial<NearKey> = {},
): NearKey => ({
  ...{
    limit: rateLimitOf(config).name,
    key,
    storeKey: `${config.name} ${key}`,
    used,
    unreported: 0,
    ...members,
  },
})

interface Shown {
  readonly name: string
  readonly over_last_hour: number
  readonly nearest:
    | readonly { readonly key: readonly { by: string; value: string | null }[]; readonly used: number }[]
    | null
}

test('limits are shown with the keys nearest to them, of all processes, as the store has counted them', async t => {
  const { ask, given, kept, clock } = await startApi(t)
  const mine = limitBy('mine', { by: 'address' })
  const route = limitBy('route')
  const [zone] = given.configs
  given.configs[0] = zoneWith({
    ...zone,
    rateLimits: [mine],
    quota: { day: 100, month: null },
    routes: [{ path: '/api', rateLimits: [route] } as never],
  })
  const window = { kind: 'sliding', period: 60_000 } as const
  await kept.counters.spend({ key: 'mine 192.0.2.1', window, limit: 10, done: 8, wanted: 0 })
  await kept.counters.spend({ key: 'mine 192.0.2.2', window, limit: 10, done: 12, wanted: 0 })
  given.near = [
    [nearOf(mine, '192.0.2.1', 3, { unreported: 1 }), nearOf(route, '', 2)],
    [nearOf(mine, '192.0.2.1', 5), nearOf(mine, '192.0.2.2', 12), nearOf(mine, '192.0.2.3', 1)],
  ]
  const now = clock.now()
  const counted = {
    kind: 'limit',
    scope: 'zone main',
    slot: slotOf('limit', now),
    last: now,
    occurrences: [],
  } as const
  await kept.tallies.add([
    { ...counted, name: 'rule mine', count: 4 },
    { ...counted, name: 'quota day', count: 2 },
  ])
  const { json } = await ask('GET', '/client/v4/zones/main/rate_limits')
  const [first, second, quota] = json.result
  assert.deepEqual(first.nearest, [
    { key: [{ by: 'address', value: '192.0.2.2' }], used: 12, remaining: 0, reset: first.nearest[0].reset },
    { key: [{ by: 'address', value: '192.0.2.1' }], used: 9, remaining: 1, reset: 60 },
    { key: [{ by: 'address', value: '192.0.2.3' }], used: 0, remaining: 10, reset: 60 },
  ])
  assert.ok(first.nearest[0].reset > 50 && first.nearest[0].reset <= 62)
  const { nearest: _, ...facts } = first
  assert.deepEqual(facts, {
    ...{ kind: 'rate_limit', name: 'mine', applies_to: 'zone', route: null, limit: 10, window: 'sliding' },
    ...{ period: 60, key: ['address'], when: null, action: 'block', over_last_hour: 4 },
  })
  assert.deepEqual([second.name, second.route, second.nearest[0].key], ['route', '/api', []])
  assert.deepEqual([quota.name, quota.window, quota.limit, quota.over_last_hour], ['main:day', 'day', 100, 2])
})

test('tokens and secret fields are masked, and long values left out', async t => {
  const { ask, given } = await startApi(t)
  const keys: readonly LimitKey[] = [
    { by: 'token' },
    { by: 'header', name: 'x-api-key' },
    { by: 'header', name: 'x-tenant' },
    { by: 'path' },
  ]
  const all = limitBy('all', ...keys)
  given.configs[0] = zoneWith({ rateLimits: [all] })
  const [token, secret] = ['svct_0123456789abcdefWXYZ', 'short']
  const digest = 'd'.repeat(43)
  given.near = [
    [
      nearOf(all, `token ${token}\nfield ${secret}\nfield acme\npath /a\x1b[2J\n`, 9),
      nearOf(all, `192.0.2.1\nheader x-api-key ${digest}\n192.0.2.1\npath ${digest}\n`, 8),
      nearOf(all, digest, 7),
    ],
  ]
  const { json } = await ask('GET', '/client/v4/zones/main/rate_limits')
  const values = json.result[0].nearest.map(({ key }: { key: { by: string; value: string | null }[] }) =>
    key.map(({ by, value }) => `${by}: ${value}`),
  )
  assert.deepEqual(values, [
    ['token: …WXYZ', 'header x-api-key: …', 'header x-tenant: acme', 'path: /a\x1b[2J'],
    ['address: 192.0.2.1', 'header x-api-key: null', 'address: 192.0.2.1', 'path: null'],
    ['token: null', 'header x-api-key: null', 'header x-tenant: null', 'path: null'],
  ])
})

test('clients of all zones are shown to the oldest account alone', async t => {
  const { ask, given, kept } = await startApi(t)
  await kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  const shared = limitBy('shared', { by: 'address' })
  given.ofAll = { ...given.ofAll, rateLimits: [shared] }
  given.configs.push(zoneWith({ name: 'theirs', account: other }))
  given.near = [[nearOf(shared, '192.0.2.1', 3)]]
  const everywhere = tokenWith({ policies: [allowing(['Zones Read'], ['*'])] })
  await kept.tokens.insert(everywhere.token)
  const nearestOf = async (zone: string) => {
    const { json } = await ask('GET', `/client/v4/zones/${zone}/rate_limits`, { token: everywhere.value })
    const [{ nearest }] = json.result as [Shown]
    return nearest?.length ?? null
  }
  assert.deepEqual([await nearestOf('main'), await nearestOf('theirs')], [1, null])
})
