import assert from 'node:assert/strict'
import { test } from 'node:test'
import { spendOf } from '../budgets/spending.ts'
import { openDashboard } from '../site.ts'

const form = {
  limit: '0.10',
  limitType: 'cost',
  window: 'day',
  when_store_unreachable: 'open',
  enabled: 'on',
}

test('a token gets a budget on its page, spends it, and starts over', async t => {
  const site = await openDashboard(t)
  const { base, account, get, submit, ask, kept, keepToken } = site
  const { token } = await keepToken(['AI Gateway Run'], {
    name: 'trial',
    gateways: ['team-*'],
    expiresOn: Date.UTC(2030, 0),
  })
  const path = `${base}/tokens/${token.id}`
  assert.match(
    (await get(path)).text,
    /Budgets What its calls may spend on all gateways together.*Add a budget/,
  )
  const before = (await ask('GET', `/tokens/${token.id}`)).json.result
  const added = await submit(`${path}/budgets/~new`, {
    ...form,
    id: 'trial',
    only_metadata: 'team=a\nteam=b',
  })
  assert.equal(added.status, 303, added.text)
  assert.match(
    (await added.follow()).text,
    /The budget was added\..*\$0.10 a day Only calls with the metadata.team a or b/,
  )
  const { spend_limits, modified_on, policies, ...after } = (await ask('GET', `/tokens/${token.id}`)).json
    .result
  assert.deepEqual(
    { ...after, policies: before.policies, modified_on: before.modified_on },
    before,
    'all else stays',
  )
  assert.deepEqual(policies[0].permission_groups, before.policies[0].permission_groups)
  assert.deepEqual(spend_limits.rules[0].metadata, { team: { mode: 'filter', values: ['a', 'b'] } })
  assert.ok(modified_on >= before.modified_on)

  const { record: limited } = (await kept.tokens.get(account, token.id))!
  const call = { provider: 'openai', model: 'gpt-4o', metadata: { team: 'a' } }
  await spendOf(site, limited, { spent: 90_000_000, reserved: 0 }, call)
  assert.match((await get(path)).text, /\$0.09 spent of \$0.10 \$0.01 left\. nearly used up Starts over in/)
  const reset = await submit(`${path}/budgets/trial/reset`)
  assert.match((await reset.follow()).text, /The budget starts over\..*\$0 spent of \$0.10/)
  const edit = await get(`${path}/budgets/trial/edit`)
  assert.match(edit.body, /name="limit"[^>]* value="0.1"/)
  assert.doesNotMatch(edit.body, /each\.token|only_token/)
  const off = await edit.submit(`${path}/budgets/trial/edit`, { ...form, enabled: '' })
  assert.equal(off.status, 303)
  const removed = await submit(`${path}/budgets/trial/delete`)
  assert.match((await removed.follow()).text, /The budget was removed/)
  assert.deepEqual((await ask('GET', `/tokens/${token.id}`)).json.result.spend_limits.rules, [])
})

test('a sixth budget of a token is refused in words', async t => {
  const { base, submit, keepToken } = await openDashboard(t)
  const { token } = await keepToken(['AI Gateway Run'])
  const path = `${base}/tokens/${token.id}/budgets/~new`
  for (let i = 0; i < 5; i++) assert.equal((await submit(path, { ...form, id: `b${i}` })).status, 303)
  const sixth = await submit(path, form)
  assert.equal(sixth.status, 422)
  assert.match(sixth.text, /A token has up to 5 budgets/)
})

test('people see what is left of the budgets of their own tokens', async t => {
  const site = await openDashboard(t, 'AI Gateway Admin')
  const { base, account, get, kept, keepToken, user } = site
  const member = (await kept.members.find(account, user.id))!.record
  const person = { user: user.id, email: user.email, member: member.id }
  const rule = {
    ...({ id: 'mine', isEnabled: true, unit: 'tokens', limit: 100, window: 'week' } as const),
    ...({ technique: 'fixed', whenUnreachable: 'closed' } as const),
  }
  const spendLimits = { isEnabled: true, rules: [rule] }
  const { token } = await keepToken(['AI Gateway Run'], { name: 'laptop', person, spendLimits })
  await keepToken(['AI Gateway Run'], { name: 'free', person })
  await spendOf(site, token, { spent: 30, reserved: 5 })
  const page = await get(`${base}/your-tokens`)
  assert.match(page.text, /100 tokens a week 30 spent, 5 reserved of 100 tokens/)
  assert.equal(page.body.match(/role="meter"/g)?.length, 1)
  assert.doesNotMatch(page.body, /\/budgets\//)
})
