import { deepEqual, equal } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type CallFacts, type Caller, callerOf, nobody } from '../../../src/budgets/buckets.ts'
import { compilePolicies } from '../../../src/budgets/policies/compile.ts'
import { decidePolicies, policyBuckets } from '../../../src/budgets/policies/decide.ts'
import { policySetId } from '../../../src/store/records/policy.ts'
import { account } from '../../tokens/token-with.ts'
import { entryWith, keepEntries } from '../ai-logs/log-entries.ts'
import { startApi } from '../api.ts'

const path = '/ai-gateway/gateways/default/policies'
const daily = (amount: number) => ({ type: 'limit', amount, period: 'daily' })
const gpt: CallFacts = { provider: 'openai', model: 'gpt-4o', metadata: null }

/** Starts the API with these policies in effect, and what spends as a process would. */
async function start(t: TestContext, policies: readonly object[]) {
  const api = await startApi(t)
  for (const body of policies) equal((await api.ask('POST', path, { body })).status, 200)
  equal((await api.ask('POST', `${path}/commit`)).status, 200)
  const { record } = (await api.kept.policySets.get(`${account}/default`, policySetId))!
  const committed = record.commits.at(-1)!.policies
  const compiled = compilePolicies(committed, { account, gateway: 'default' })
  let sequence = 0
  const spend = async (facts: Partial<CallFacts>, caller: Caller, dollars: number) => {
    const decision = decidePolicies(compiled, { ...gpt, ...facts }, caller)
    if (decision.type !== 'allow') throw new Error('it is refused')
    const line = { confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 }
    const lines = policyBuckets(decision.limits, api.clock.now()).map(
      ({ bucket, window, rule: { limit } }) => ({
        ...{ bucket, window, limit, share: `share ${sequence}`, total: Math.round(dollars * 1e9), ...line },
      }),
    )
    await api.kept.budgets.step({ account, sequence: ++sequence, lease: 15_000, lines })
  }
  const list = async () => (await api.ask('GET', `${path}/budgets`)).json.result
  return { ...api, committed, spend, list }
}

test('a limit of all calls is listed before anything is spent of it, and last the calls that none allows', async t => {
  const { list, committed, spend } = await start(t, [
    { name: 'All', actor: '*', resource: '*', action: daily(5) },
    { name: 'No o3', actor: '*', resource: { model: 'o3*' }, action: { type: 'block' } },
  ])
  const [all, o3] = committed
  const rows = await list()
  const [budget] = rows[0].budgets
  deepEqual(rows, [
    {
      policy: { id: all!.id, name: 'All' },
      refused_last_day: 0,
      budgets: [
        {
          ...{ budget_id: budget.budget_id, identity: null, name: null, amount: 5, spent: 0, leased: 0 },
          ...{ remaining: 5, resets_at: '2026-01-02T00:00:00.000Z' },
        },
      ],
    },
    { policy: { id: o3!.id, name: 'No o3' }, refused_last_day: 0, budgets: [] },
    { policy: null, refused_last_day: 0, budgets: [] },
  ])
  await spend({}, nobody, 1.25)
  deepEqual((await list())[0].budgets, [{ ...budget, spent: 1.25, remaining: 3.75 }])
})

test('identities that spent something have their names, the most spent first', async t => {
  const { list, spend, keepToken, kept } = await start(t, [
    { name: 'Tokens', actor: 'token:{svc.token.id}', resource: '*', action: daily(5) },
    { name: 'Teams', actor: 'team:{metadata.team}', resource: { model: 'gpt-*' }, action: daily(9) },
  ])
  const [editor, other] = [
    await keepToken(['AI Gateway Run'], { name: 'editor' }),
    await keepToken(['AI Gateway Run'], { name: 'other' }),
  ]
  await keepToken(['AI Gateway Run'], { name: 'unused' })
  const search = { metadata: { team: 'search' } }
  await keepEntries(kept, [{ ...entryWith(1), ...search, model: 'gpt-4o' }])
  await spend({}, callerOf(editor.token), 1)
  await spend(search, callerOf(other.token), 2)
  const [tokens, teams] = await list()
  const briefly = ({ budgets }: { budgets: { identity: string; name: string; spent: number }[] }) =>
    budgets.map(({ identity, name, spent }) => [identity, name, spent])
  deepEqual(briefly(tokens), [
    [other.token.id, 'other', 2],
    [editor.token.id, 'editor', 1],
  ])
  deepEqual(briefly(teams), [['search', null, 2]])
})

test('each policy says how many calls it refused in the last day', async t => {
  const { list, kept, clock, committed } = await start(t, [
    { name: 'All', actor: '*', resource: '*', action: daily(5) },
    { name: 'No o3', actor: '*', resource: { model: 'o3*' }, action: { type: 'block' } },
  ])
  const [all, o3] = committed
  const tally = (name: string, count: number, at = clock.now()) => ({
    ...{ kind: 'budget' as const, scope: `budgets ${account}`, name },
    ...{ slot: at, count, last: at, occurrences: [] },
  })
  await kept.tallies.add([
    tally(`policy default ${all!.id}`, 3),
    tally(`policy default ${o3!.id}`, 4),
    tally('policy default none', 5),
    tally('policy other none', 6),
    tally(`policy default ${all!.id}`, 7, clock.now() - 26 * 3_600_000),
  ])
  const rows: { refused_last_day: number }[] = await list()
  deepEqual(
    rows.map(row => row.refused_last_day),
    [3, 4, 5],
  )
})

test('without policies there is only the row of calls that none allows, and without a gateway nothing', async t => {
  const { ask } = await startApi(t)
  const rows = (await ask('GET', `${path}/budgets`)).json.result
  deepEqual(rows, [{ policy: null, refused_last_day: 0, budgets: [] }])
  equal((await ask('GET', '/ai-gateway/gateways/gone/policies/budgets')).status, 404)
})
