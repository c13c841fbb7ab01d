import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bucketsOf, type CallFacts } from '../../../src/budgets/buckets.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'
import { startApi } from '../api.ts'

const gateways = '/ai-gateway/gateways'
const partition = { mode: 'partition' }
const call: CallFacts = { provider: 'openai', model: 'gpt-4o', metadata: null }

/** Starts the API with a gateway of these rules, and what spends as a process would. */
async function start(t: TestContext, rules: readonly object[]) {
  const api = await startApi(t)
  const { status } = await api.ask('POST', gateways, { body: { id: 'team', spend_limits: { rules } } })
  assert.equal(status, 200)
  const { record } = (await api.kept.gateways.get(account, 'team'))!
  let sequence = 0
  const spend = async (facts: Partial<CallFacts>, token: Token | null, total: number, keep = 0) => {
    const buckets = bucketsOf(record, token, { ...call, ...facts }, api.clock.now())
    const lines = buckets.map(({ bucket, window, rule: { limit } }) => ({
      ...{
        bucket,
        window,
        limit,
        share: `share ${sequence}`,
        total,
        confirmed: 0,
        keep,
        ifLost: 0,
        need: 0,
        want: 0,
      },
    }))
    await api.kept.budgets.step({ account, sequence: ++sequence, lease: 15_000, lines })
    return buckets.map(({ bucket }) => bucket)
  }
  const budgets = async () => (await api.ask('GET', `${gateways}/team/budgets`)).json.result
  const reset = (id: string) => api.ask('POST', `${gateways}/team/budgets/${id}/reset`)
  return { ...api, spend, budgets, reset }
}

test('a rule for all calls has one budget, with what is spent, reserved and left of it', async t => {
  const rules = [
    { id: 'money', limit: 10, limitType: 'cost', window: 'day' },
    { id: 'calls', limit: 4, limitType: 'concurrency' },
    { id: 'off', enabled: false, limit: 1, limitType: 'tokens', window: 60 },
  ]
  const { budgets, spend } = await start(t, rules)
  const [money, calls, ...more] = await budgets()
  assert.deepEqual(more, [])
  assert.deepEqual([money.rule.id, money.rule.limitType, calls.rule.id], ['money', 'cost', 'calls'])
  const [id] = await spend({}, null, 2_500_000_000, 1_000_000_000)
  const [{ budgets: spent }] = await budgets()
  assert.deepEqual(spent, [
    {
      ...{ id, key: [], spent: 2.5, leased: 1, limit: 10, remaining: 6.5 },
      resets_at: '2026-01-02T00:00:00.000Z',
    },
  ])
  assert.deepEqual(calls.budgets, [
    { ...calls.budgets[0], key: [], spent: 0, leased: 0, limit: 4, remaining: 4, resets_at: null },
  ])
})

test('each rule says how many calls it refused in the last day', async t => {
  const rules = ['money', 'more'].map(id => ({ id, limit: 10, limitType: 'cost', window: 'day' }))
  const { budgets, kept, clock, reset } = await start(t, rules)
  const now = clock.now()
  const tally = (name: string, count: number, at = now) =>
    ({
      kind: 'budget',
      scope: `budgets ${account}`,
      name,
      slot: at,
      count,
      last: at,
      occurrences: [],
    }) as const
  await kept.tallies.add([
    tally('gateway team money', 3),
    tally('gateway team money', 4, now - 5 * 3_600_000),
    tally('gateway other more', 5),
    tally('token team more', 6),
    tally('gateway team more', 7, now - 26 * 3_600_000),
  ])
  const refused = (await budgets()).map((rule: { refused_last_day: number }) => rule.refused_last_day)
  assert.deepEqual(refused, [7, 0])
  assert.equal((await reset('money')).json.result.refused_last_day, 7)
})

test('partitions are listed by the names of tokens and the metadata of latest calls, the most spent first', async t => {
  const rules = [
    { id: 'tokens', limit: 10, limitType: 'tokens', window: 60, token: partition },
    { id: 'teams', limit: 10, limitType: 'tokens', window: 60, metadata: { team: partition } },
  ]
  const { budgets, spend, kept, keepToken } = await start(t, rules)
  const { token } = await keepToken(['AI Gateway Run'], { name: 'editor' })
  await keepToken(['AI Gateway Run'], { name: 'unused' })
  const search = { metadata: { team: 'search' } }
  await keepEntries(kept, [{ ...entryWith(1), gateway: 'team', ...search }], 'team')
  await spend(search, token, 3)
  await spend({}, null, 12)
  await spend({ metadata: { team: 'unknown' } }, tokenWith().token, 1)
  const [byToken, byTeam] = await budgets()
  const keysOf = ({ budgets }: { budgets: { key: unknown; spent: number; remaining: number }[] }) =>
    budgets.map(({ key, spent, remaining }) => [key, spent, remaining])
  assert.deepEqual(keysOf(byToken), [
    [[{ by: 'token', value: null }], 12, 0],
    [[{ by: 'token', value: token.id, name: 'editor' }], 3, 7],
  ])
  assert.deepEqual(keysOf(byTeam), [
    [[{ by: 'metadata.team', value: null }], 12, 0],
    [[{ by: 'metadata.team', value: 'search' }], 3, 7],
  ])
})

test('a budget starts over by its id, or with all of its rule, and the audit log says so', async t => {
  const rules = [
    { id: 'tokens', limit: 10, limitType: 'tokens', window: 60, token: partition },
    { id: 'all', limit: 100, limitType: 'tokens', window: 60 },
  ]
  const { reset, spend, kept, keepToken, budgets } = await start(t, rules)
  const [a, b] = [await keepToken([], { name: 'a' }), await keepToken([], { name: 'b' })]
  const [bucket] = await spend({}, a.token, 5)
  await spend({}, b.token, 7)
  const one = await reset(bucket!)
  assert.equal(one.status, 200)
  assert.equal(one.json.result.rule.id, 'tokens')
  assert.deepEqual(
    one.json.result.budgets.map(({ spent }: { spent: number }) => spent),
    [7],
  )
  assert.deepEqual((await reset('tokens')).json.result.budgets, [])
  const [, all] = await budgets()
  assert.equal(all.budgets[0].spent, 12)
  const { items } = await kept.audit.list(account, auditQuery())
  const resets = items.filter(({ action }) => action === 'reset')
  assert.deepEqual(
    resets.map(({ resource, values }) => [resource, values?.after.budget]).sort(),
    [
      ['team', bucket],
      ['team', 'tokens'],
    ].sort(),
  )
})

test('what is no budget of the gateway is not reset, and needs the permission to change it', async t => {
  const { ask, reset, keepToken, kept } = await start(t, [
    { id: 'all', limit: 1, limitType: 'tokens', window: 60 },
  ])
  const other = { id: 'other', spend_limits: { rules: [{ limit: 1, limitType: 'tokens', window: 60 }] } }
  await ask('POST', gateways, { body: other })
  const [{ budgets }] = (await ask('GET', `${gateways}/other/budgets`)).json.result
  for (const id of [budgets[0].id, 'none', '__proto__', 'all%2f'])
    assert.equal((await reset(id)).status, 404, id)
  for (const [method, path] of [
    ['GET', `${gateways}/gone/budgets`],
    ['POST', `${gateways}/gone/budgets/all/reset`],
  ] as const)
    assert.equal((await ask(method, path)).status, 404)
  const { value } = await keepToken(['AI Gateway Read'])
  assert.equal((await ask('GET', `${gateways}/team/budgets`, { token: value })).status, 200)
  const refused = await ask('POST', `${gateways}/team/budgets/all/reset`, { token: value })
  assert.equal(refused.status, 403)
  const { items } = await kept.audit.list(account, auditQuery())
  assert.equal(
    items.some(({ action }) => action === 'reset'),
    false,
  )
  assert.deepEqual((await ask('GET', `${gateways}/default/budgets`)).json.result, [])
})
