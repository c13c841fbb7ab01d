import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bucketsOf } from '../../../src/budgets/buckets.ts'
import type { SpendLimits, SpendRule } from '../../../src/store/records/budget-rule.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'

const day: SpendRule = {
  ...{ id: 'day', isEnabled: true, unit: 'cost', limit: 0.1, window: 'day', technique: 'fixed' },
  whenUnreachable: 'closed',
}
const spendLimits: SpendLimits = {
  isEnabled: true,
  rules: [day, { ...day, id: 'off', isEnabled: false }, { ...day, id: 'tokens', unit: 'tokens', limit: 100 }],
}

/** Starts the API with what spends as a process would: of each budget of a token, so much. */
async function start(t: TestContext) {
  const api = await startApi(t)
  const { record: gateway } = (await api.kept.gateways.get(account, 'default'))!
  const call = { provider: 'openai', model: 'gpt-4o', metadata: null }
  let sequence = 0
  const spend = async (token: Token, total: number, keep = 0) => {
    const buckets = bucketsOf(gateway, token, call, api.clock.now())
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
  const budgets = (id: string) => api.ask('GET', `/tokens/${id}/budgets`)
  const reset = (id: string, budget: string, token?: string) =>
    api.ask('POST', `/tokens/${id}/budgets/${budget}/reset`, token === undefined ? {} : { token })
  return { ...api, spend, budgets, reset }
}

const spentIn = ({ json }: { json: { result: { budgets: { spent: number }[] }[] } }) =>
  json.result.map(({ budgets }) => budgets.map(({ spent }) => spent))

test('each rule of a token that is in effect has one budget, apart from those of other tokens', async t => {
  const { keepToken, budgets, spend, kept, clock } = await start(t)
  const { token } = await keepToken(['AI Gateway Run'], { spendLimits })
  const other = await keepToken(['AI Gateway Run'], { spendLimits })
  await spend(other.token, 7)
  const [id] = await spend(token, 25, 50)
  const { status, json } = await budgets(token.id)
  assert.equal(status, 200)
  const [first, second, ...more] = json.result
  assert.deepEqual(more, [])
  assert.deepEqual([first.rule.id, first.rule.limit, second.rule.id], ['day', 0.1, 'tokens'])
  assert.deepEqual(first.budgets, [
    {
      ...{ id, key: [], spent: 2.5e-8, leased: 5e-8, limit: 0.1, remaining: 0.099999925 },
      resets_at: '2026-01-02T00:00:00.000Z',
    },
  ])
  assert.deepEqual(
    second.budgets.map(({ spent, leased, remaining }: Record<string, number>) => [spent, leased, remaining]),
    [[25, 50, 25]],
  )
  const now = clock.now()
  const hits = { kind: 'budget', scope: `budgets ${account}`, name: `token ${token.id} day` } as const
  await kept.tallies.add([{ ...hits, slot: now, count: 3, last: now, occurrences: [] }])
  const refused = (await budgets(token.id)).json.result.map(
    (rule: { refused_last_day: number }) => rule.refused_last_day,
  )
  assert.deepEqual(refused, [3, 0])
  const { token: free } = await keepToken(['AI Gateway Run'])
  assert.deepEqual((await budgets(free.id)).json.result, [])
  for (const unknown of ['f'.repeat(32), 'verify', '__proto__'])
    assert.equal((await budgets(unknown)).status, 404, unknown)
})

test('a budget of a token starts over by its id or that of its rule, and the audit log says so', async t => {
  const { keepToken, budgets, reset, spend, kept } = await start(t)
  const { token } = await keepToken(['AI Gateway Run'], { name: 'nightly', spendLimits })
  const [bucket] = await spend(token, 40)
  const one = await reset(token.id, bucket!)
  assert.equal(one.status, 200)
  assert.deepEqual([one.json.result.rule.id, one.json.result.budgets[0].spent], ['day', 0])
  assert.deepEqual(spentIn(await budgets(token.id)), [[0], [40]])
  assert.equal((await reset(token.id, 'tokens')).status, 200)
  assert.deepEqual(spentIn(await budgets(token.id)), [[0], [0]])
  const { items } = await kept.audit.list(account, auditQuery())
  const resets = items.filter(({ action }) => action === 'reset')
  assert.deepEqual(resets.map(({ values }) => values?.after.budget).sort(), [bucket, 'tokens'].sort())
  for (const { resourceKind, resource, resourceName } of resets)
    assert.deepEqual([resourceKind, resource, resourceName], ['token', token.id, 'nightly'])
})

test('budgets of tokens are shown and reset with the permissions for tokens, and never by a limited token', async t => {
  const { ask, keepToken, budgets, reset, spend, kept } = await start(t)
  const { token } = await keepToken(['AI Gateway Run'], { spendLimits })
  const [bucket] = await spend(token, 40)
  const reader = (await keepToken(['API Tokens Read'])).value
  const path = `/tokens/${token.id}/budgets`
  assert.equal((await ask('GET', path, { token: reader })).status, 200)
  assert.equal((await ask('GET', path, { token: (await keepToken(['AI Gateway Run'])).value })).status, 403)
  // Only one that may run models itself may let one that does spend more.
  const writer = (await keepToken(['API Tokens Write'])).value
  const limited = await keepToken(['API Tokens Write', 'AI Gateway Run'], { spendLimits })
  for (const value of [reader, writer, limited.value])
    assert.equal((await reset(token.id, 'day', value)).status, 403)
  assert.equal((await reset(limited.token.id, 'day', limited.value)).status, 403, 'its own')
  for (const [id, budget] of [
    [token.id, 'none'],
    [token.id, 'off'],
    [token.id, '__proto__'],
    [limited.token.id, bucket!],
    ['f'.repeat(32), 'day'],
  ] as const)
    assert.equal((await reset(id, budget)).status, 404, `${id} ${budget}`)
  const { items } = await kept.audit.list(account, auditQuery())
  assert.deepEqual(
    items.filter(({ action }) => action === 'reset'),
    [],
  )
  assert.deepEqual(spentIn(await budgets(token.id)), [[40e-9], [40]])
  const full = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  assert.equal((await reset(token.id, 'day', full.value)).status, 200)
})

test('people see the budgets of their own tokens, and of no others', async t => {
  const { ask, keepToken, kept, clock, spend } = await start(t)
  const [mine, theirs] = [
    await keepAccess(kept, { now: clock.now() }),
    await keepAccess(kept, { now: clock.now() }),
  ]
  const personOf = ({ user, member }: typeof mine) => ({
    person: { user: user.id, email: user.email, member: member.id },
  })
  const own = await keepToken(['AI Gateway Run'], { spendLimits, ...personOf(mine) })
  const other = await keepToken(['AI Gateway Run'], { spendLimits, ...personOf(theirs) })
  const nobodys = await keepToken(['AI Gateway Run'], { spendLimits })
  await spend(own.token, 40)
  const see = (id: string) => ask('GET', `/client/v4/user/tokens/${id}/budgets`, { token: mine.value })
  assert.deepEqual(spentIn(await see(own.token.id)), [[40e-9], [40]])
  for (const id of [other.token.id, nobodys.token.id, 'f'.repeat(32), 'x'])
    assert.equal((await see(id)).status, 404)
})
