import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditQuery } from '../../store/contract-specimens.ts'
import { spendOf } from '../budgets/spending.ts'
import { openDashboard } from '../site.ts'

const budgets = '/gateways/default/budgets'
const form = {
  limit: '100',
  limitType: 'cost',
  window: 'month',
  when_store_unreachable: 'closed',
  enabled: 'on',
}

test('a budget is added, spent, changed, reset and removed', async t => {
  const site = await openDashboard(t)
  const { base, account, get, submit, ask, kept } = site
  const empty = await get(base + budgets)
  assert.match(empty.text, /No budgets yet A budget limits what calls may spend.*Add a budget/)
  assert.match(empty.body, new RegExp(`href="${base}/docs/budgets"`))
  assert.equal((await get(`${base}/docs/budgets`)).status, 200)

  const sent = {
    ...form,
    id: 'money',
    time_zone: 'Europe/Berlin',
    only_model: 'openai/gpt-4o\r\ngpt-4o-mini\r\n',
  }
  const added = await submit(`${base}${budgets}/~new`, sent)
  assert.equal(added.status, 303, added.text)
  assert.match(
    (await added.follow()).text,
    /The budget was added\..*\$100.00 a month Only calls with the model openai\/gpt-4o or gpt-4o-mini\. Time of Europe\/Berlin\. Name: money \$0 spent of \$100.00/,
  )
  const rules = async () => (await ask('GET', '/ai-gateway/gateways/default')).json.result.spend_limits.rules
  assert.deepEqual(await rules(), [
    {
      ...{ id: 'money', enabled: true, limit: 100, limitType: 'cost', window: 'month' },
      ...{ time_zone: 'Europe/Berlin', technique: 'fixed', when_store_unreachable: 'closed' },
      model: { mode: 'filter', values: ['openai/gpt-4o', 'gpt-4o-mini'] },
    },
  ])

  await spendOf(site, null, { spent: 25_000_000_000, reserved: 60_000_000_000 })
  const page = await get(base + budgets)
  assert.match(
    page.text,
    /\$25.00 spent, \$60.00 reserved of \$100.00 \$15.00 left\. nearly used up Starts over in 30 d 23 h/,
  )
  assert.match(
    (await get(`${base}/gateways/default`)).text,
    /Budgets \$100.00 a month \$25.00 spent.*All budgets/,
  )

  const edit = await get(`${base}${budgets}/money/edit`)
  assert.match(edit.body, /name="limit"[^>]* value="100"/)
  assert.match(
    edit.body,
    /<details open><summary>Only for some calls.*openai\/gpt-4o\ngpt-4o-mini<\/textarea>/s,
  )
  const changed = await edit.submit(`${base}${budgets}/money/edit`, { ...sent, limit: '200.5' })
  assert.match(
    (await changed.follow()).text,
    /The budget was changed\..*\$25.00 spent, \$60.00 reserved of \$200.50/,
  )
  // The form was for the former limit.
  const late = await edit.submit(`${base}${budgets}/money/edit`, { ...sent, limit: '300' })
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this.*It is now: 200\.5\./)

  const confirm = await get(`${base}${budgets}/money/reset`)
  assert.match(confirm.text, /Start over\?.*\$200.50 a month.*\$25.00 is spent, and it begins at 0 again\./)
  const reset = await confirm.submit(`${base}${budgets}/money/reset`)
  assert.match((await reset.follow()).text, /The budget starts over\..*\$0 spent, \$60.00 reserved/)
  const { items } = await kept.audit.list(account, auditQuery())
  assert.equal(items.filter(({ action }) => action === 'reset').length, 1)

  assert.match((await get(`${base}${budgets}/money/delete`)).text, /Remove this budget\?.*\$200.50 a month/)
  const removed = await submit(`${base}${budgets}/money/delete`)
  assert.match((await removed.follow()).text, /The budget was removed.*No budgets yet/)
  assert.deepEqual(await rules(), [])
  for (const gone of ['money', 'money/edit', 'money/reset', 'money/delete', '__proto__/edit'])
    assert.equal((await get(`${base}${budgets}/${gone}`)).status, 404, gone)
})

test('partitions are listed by name, the most spent first, and one of them starts over', async t => {
  const site = await openDashboard(t)
  const { base, get, submit, keepToken } = site
  const each = { ...form, id: 'each', limit: '100', limitType: 'tokens', window: 'seconds', seconds: '3600' }
  await submit(`${base}${budgets}/~new`, { ...each, technique: 'fixed', 'each.token': 'on' })
  const tokens = await Promise.all(
    Array.from({ length: 10 }, (_, i) => keepToken(['AI Gateway Run'], { name: `token ${i}.` })),
  )
  assert.match(
    (await get(base + budgets)).text,
    /100 tokens every hour, for each token.*Nothing is spent yet/,
  )
  for (const [i, { token }] of tokens.entries())
    await spendOf(site, token, { spent: 10 * i + 10, reserved: 0 })
  const list = await get(base + budgets)
  assert.match(
    list.text,
    /Starts over in 1 h .*token 9\. 100 spent of 100 tokens used up.*token 8\. 90 spent.*nearly used up.*And 2 more/,
  )
  assert.doesNotMatch(list.text, /token 0\./)
  const all = await get(`${base}${budgets}/each`)
  assert.match(all.text, /token 1\. 20 spent of 100 tokens 80 .*token 0\. 10 spent of 100 tokens/)
  const [, bucket] = /budgets\/([^/"]+)\/reset">Reset…<span class="unseen"> token 9\./.exec(all.body)!
  const confirm = await get(`${base}${budgets}/${bucket}/reset`)
  assert.match(confirm.text, /token 9\.: 100 tokens is spent, and it begins at 0 again/)
  await confirm.submit(`${base}${budgets}/${bucket}/reset`)
  const after = await get(`${base}${budgets}/each`)
  assert.doesNotMatch(after.text, /token 9\./)
  assert.match(after.text, /token 8\. 90 spent/)
  assert.match(
    (await get(`${base}${budgets}/each/reset`)).text,
    /The 9 budgets that are listed for it begin at 0/,
  )
})

test('mistakes are shown at their fields, with what was typed', async t => {
  const { base, submit } = await openDashboard(t)
  const send = (fields: Readonly<Record<string, string>>) =>
    submit(`${base}${budgets}/~new`, { ...form, ...fields })
  for (const [fields, field, sentence] of [
    [{ limit: 'much' }, 'limit', /Must be a number of USD above 0/],
    [{ limit: '0' }, 'limit', /above 0/],
    [{ limit: '1.5', limitType: 'tokens' }, 'limit', /whole number|integer/],
    [{ window: 'seconds', seconds: '59' }, 'seconds', /from 60 to/],
    [{ window: 'seconds', seconds: '' }, 'seconds', /from 60 to/],
    [{ time_zone: 'Mars' }, 'time_zone', /name of a time zone/],
    [{ id: 'with space' }, 'id', /letters, digits/],
    [{ 'each.model': 'on', only_model: 'gpt-4o' }, 'only_model', /not both/],
    [{ only_model: 'a\na' }, 'only_model', /duplicates an earlier item/i],
    [{ each_metadata: 'x'.repeat(101) }, 'only_metadata', /names of 1 to 100 printable characters/],
  ] as const) {
    const page = await send(fields)
    assert.equal(page.status, 422, JSON.stringify(fields))
    assert.match(page.body, new RegExp(`class="fault" id="${field}-fault">[^<]*${sentence.source}`, 'i'))
    for (const [name, value] of Object.entries(fields))
      if (name !== 'each.model' && value !== '' && name === 'limit')
        assert.match(page.body, new RegExp(`name="${name}"[^>]* value="${value}"`))
  }
  assert.equal((await send({ id: 'one' })).status, 303)
  const twice = await send({ id: 'one' })
  assert.match(twice.body, /id="id-fault">[^<]*duplicates the id of an earlier rule/i)
})

test('a gateway has at most 20 budgets, and the form says so', async t => {
  const { base, ask, get, submit } = await openDashboard(t)
  const rules = Array.from({ length: 20 }, (_, i) => ({ id: `b${i}`, limit: 1, limitType: 'concurrency' }))
  const gateway = (await ask('GET', '/ai-gateway/gateways/default')).json.result
  await ask('PUT', '/ai-gateway/gateways/default', { body: { ...gateway, spend_limits: { rules } } })
  assert.equal((await get(base + budgets)).body.match(/role="meter"/g)?.length, 20)
  const full = await submit(`${base}${budgets}/~new`, form)
  assert.equal(full.status, 422)
  assert.match(full.text, /A gateway has up to 20 budgets/)
})

test('all budgets are switched off and on, and calls without a maximum or a price get theirs', async t => {
  const { base, ask, get, submit } = await openDashboard(t)
  await submit(`${base}${budgets}/~new`, { ...form, id: 'money' })
  const path = `${base}${budgets}/~settings`
  const page = await get(path)
  assert.match(page.body, /name="default_max_tokens"[^>]* value="4096"/)
  const bad = await page.submit(path, { default_max_tokens: '0', unpriced_cost: 'x' })
  assert.match(bad.body, /id="default_max_tokens-fault".*id="unpriced_cost-fault"/s)
  const saved = await page.submit(path, { enabled: '', default_max_tokens: '512', unpriced_cost: '0.02' })
  assert.equal(saved.status, 303, saved.text)
  const { result } = (await ask('GET', '/ai-gateway/gateways/default')).json
  assert.deepEqual([result.default_max_tokens, result.unpriced_cost], [512, 0.02])
  assert.equal(result.spend_limits.rules.length, 1)
  assert.match((await saved.follow()).text, /512 output tokens.*\$0.02 a call/)
})

test('who may only read sees the bars, and no way to change them', async t => {
  const site = await openDashboard(t, 'Administrator Read Only')
  const { base, ask, get, visitor } = site
  const rules = [{ id: 'money', limit: 1, limitType: 'cost', window: 'day' }]
  const gateway = (await ask('GET', '/ai-gateway/gateways/default')).json.result
  await ask('PUT', '/ai-gateway/gateways/default', { body: { ...gateway, spend_limits: { rules } } })
  await spendOf(site, null, { spent: 1_000_000_000, reserved: 0 })
  const page = await get(base + budgets)
  assert.match(page.text, /\$1.00 spent of \$1.00 used up/)
  assert.doesNotMatch(page.body, /~new|\/edit|\/reset|\/delete|~settings/)
  for (const below of ['~new', '~settings', 'money/edit', 'money/reset', 'money/delete'])
    assert.equal((await visitor.post(`${base}${budgets}/${below}`, {})).status, 404, below)
})
