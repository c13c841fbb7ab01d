import assert from 'node:assert/strict'
import { test } from 'node:test'
import { account } from '../../tokens/token-with.ts'
import { openDashboard } from '../site.ts'

const policies = '/gateways/default/policies'
const everybody = { name: 'Everybody', who: 'all', action: 'no-limit', resource: '*', period: 'daily' }
const each = { ...everybody, name: 'Each user', who: 'each_user', action: 'limit', amount: '5' }
const anyCall = { model: 'openai/gpt-4o', user: 'ada@example.com', state: 'draft' }

test('policies are drafted, tried, committed, changed and rolled back', async t => {
  const { base, get, submit, ask, user } = await openDashboard(t)
  const path = base + policies
  const call = { ...anyCall, user: user.email.toUpperCase() }
  const empty = await get(path)
  assert.match(empty.text, /No policies yet.*calls that no policy allows are refused/)
  assert.match(empty.body, new RegExp(`href="${base}/docs/policies"`))
  assert.equal((await get(`${base}/docs/policies`)).status, 200)
  const inEffect = async () => {
    const { json } = await ask('GET', '/ai-gateway/gateways/default/policies?state=committed')
    return json.result.map(({ name }: { name: string }) => name)
  }

  const added = await submit(`${path}/~new`, each)
  assert.equal(added.status, 303, added.text)
  assert.match(
    (await added.follow()).text,
    /added to the draft\..*Draft Calls are decided as before.*Added Each user: Each user may spend \$5.00 a day on all models/,
  )
  assert.deepEqual(await inEffect(), [])
  const tried = await submit(`${path}/~simulate`, call)
  assert.match(tried.text, /The call is allowed by Each user\. It counts in.*\$0 spent of \$5.00/)
  assert.match(
    (await submit(`${path}/~simulate`, { ...call, user: '' })).text,
    /refused: no policy allows it/,
  )

  const confirm = await get(`${path}/~commit`)
  assert.match(confirm.text, /From then on, calls that no policy allows are refused\./)
  // Somebody else adds one meanwhile: that was not confirmed.
  await submit(`${path}/~new`, everybody)
  const overtaken = await confirm.submit(`${path}/~commit`)
  assert.equal(overtaken.status, 412)
  assert.match(overtaken.text, /Somebody else changed this.*Added Everybody: Everybody may call all models/)
  assert.deepEqual(await inEffect(), [])
  const committed = await submit(`${path}/~commit`)
  assert.match(
    (await committed.follow()).text,
    /The draft was committed\..*These are in effect.*Each user.*Everybody/,
  )
  assert.deepEqual(await inEffect(), ['Each user', 'Everybody'])

  const [, id] = /policies\/([0-9a-f]{32})"><span class="long"><bdi>Each user/.exec((await get(path)).body)!
  const edit = await get(`${path}/${id}`)
  assert.match(edit.body, /name="amount"[^>]* value="5"/)
  const models = { action: 'block', resource: 'model', patterns: 'openai/gpt-4o\r\ngpt-5*' }
  const changed = await edit.submit(`${path}/${id}`, { ...each, ...models })
  assert.match(
    (await changed.follow()).text,
    /Changed Each user: Each user may not call the models openai\/gpt-4o and gpt-5\* Before: Each user may spend \$5.00 a day/,
  )
  assert.match((await submit(`${path}/~simulate`, call)).text, /The call is blocked by Each user\. Why/)
  assert.match(
    (await submit(`${path}/~simulate`, { ...call, state: 'committed' })).text,
    /The call is allowed by Each user/,
  )
  await submit(`${path}/~commit`)
  const [, former] = /~commits\/([0-9a-f]{32})/.exec((await get(path)).body)!
  assert.match(
    (await get(`${path}/~commits/${former}`)).text,
    /Roll back\?.*Changed Each user: Each user may spend \$5.00 a day on all models Before: Each user may not call/,
  )
  const rolled = await submit(`${path}/~commits/${former}`)
  assert.match((await rolled.follow()).text, /The earlier policies are in effect again/)
  assert.match((await get(`${path}/${id}`)).body, /name="amount"[^>]* value="5"/)
})

test('a policy that somebody else has changed is neither overwritten nor removed unseen', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const path = base + policies
  await submit(`${path}/~new`, everybody)
  const { json } = await ask('GET', '/ai-gateway/gateways/default/policies?state=draft')
  const [{ id, ...policy }] = json.result
  const rename = (name: string) =>
    ask('PUT', `/ai-gateway/gateways/default/policies/${id}`, { body: { ...policy, name } })
  const edit = await get(`${path}/${id}`)
  const removal = await get(`${path}/${id}/delete`)
  await rename('All of us')
  const overtaken = await edit.submit(`${path}/${id}`, { ...everybody, name: 'Nobody' })
  assert.equal(overtaken.status, 412)
  assert.match(overtaken.text, /Somebody else changed this.*It is now: All of us\./)
  const refused = await removal.submit(`${path}/${id}/delete`)
  assert.equal(refused.status, 412)
  assert.match(refused.text, /Somebody else changed this.*All of us/)
  assert.equal((await overtaken.submit(`${path}/${id}`, { ...everybody, name: 'Nobody' })).status, 303)
  assert.match((await get(path)).text, /Nobody: Everybody may call all models/)
  assert.equal((await submit(`${path}/${id}/delete`)).status, 303)
})

test('a policy is removed from the draft, and a draft is discarded or outdated', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const path = base + policies
  await submit(`${path}/~new`, everybody)
  await submit(`${path}/~commit`)
  const [, id] = /policies\/([0-9a-f]{32})"/.exec((await get(path)).body)!
  assert.match(
    (await get(`${path}/${id}/delete`)).text,
    /Remove this policy\?.*Everybody: Everybody may call all/,
  )
  const removed = await submit(`${path}/${id}/delete`)
  assert.match(
    (await removed.follow()).text,
    /removed from the draft\..*Removed Everybody.*committed, none decides/,
  )
  assert.match((await get(`${path}/~commit`)).text, /Without policies, none refuses calls\./)
  assert.match((await get(`${path}/~discard`)).text, /Discard this draft\?.*Removed Everybody/)
  const discarded = await submit(`${path}/~discard`)
  assert.match((await discarded.follow()).text, /The draft was discarded\..*These are in effect/)
  for (const gone of ['~commit', '~discard', 'f'.repeat(32), `~commits/${'f'.repeat(32)}`])
    assert.equal((await get(`${path}/${gone}`)).status, 404, gone)

  await submit(`${path}/~new`, each)
  const [{ id: commit }] = (await ask('GET', '/ai-gateway/gateways/default/policies/commits')).json.result
  await ask('POST', '/ai-gateway/gateways/default/policies/rollback', { body: { to: commit } })
  const outdated = await get(path)
  assert.match(outdated.text, /Something else was committed meanwhile: discard this draft/)
  assert.doesNotMatch(outdated.body, /~commit"/)
})

test('what is spent of the limits in effect is shown as bars, and how many calls policies refused', async t => {
  const { base, get, submit, kept, ask, clock } = await openDashboard(t)
  const path = base + policies
  await submit(`${path}/~new`, { ...everybody, action: 'limit', amount: '5' })
  assert.doesNotMatch((await get(path)).text, /Spent and refused/)
  await submit(`${path}/~commit`)
  const shown = await get(path)
  assert.match(shown.text, /Spent and refused Everybody All calls: \$5.00 left \$0 spent of \$5.00/)
  assert.match(shown.body, /role="meter" aria-label="Everybody, All calls"[^>]* aria-valuenow="0"/)
  const { json } = await ask('GET', '/ai-gateway/gateways/default/policies/budgets')
  const [{ policy, budgets }] = json.result
  const window = { kind: 'fixed', until: Date.parse(budgets[0].resets_at) } as const
  const line = { bucket: budgets[0].budget_id, window, limit: 5e9, share: 's', total: 4.5e9, confirmed: 0 }
  const lines = [{ ...line, keep: 0, ifLost: 0, need: 0, want: 0 }]
  await kept.budgets.step({ account, sequence: 1, lease: 15_000, lines })
  const now = clock.now()
  const tally = {
    kind: 'budget',
    scope: `budgets ${account}`,
    slot: now,
    last: now,
    occurrences: [],
  } as const
  await kept.tallies.add([
    { ...tally, name: `policy default ${policy.id}`, count: 3 },
    { ...tally, name: 'policy default none', count: 1 },
  ])
  assert.match(
    (await get(path)).text,
    /Everybody refused 3 calls in the last day All calls: \$0.50 left nearly used up \$4.50 spent of \$5.00 Allowed by no policy refused 1 call in/,
  )
})

test('mistakes are shown at their fields', async t => {
  const { base, submit } = await openDashboard(t)
  const path = `${base}${policies}/~new`
  for (const [fields, field] of [
    [{ name: '' }, 'name'],
    [{ who: 'user', whose: '' }, 'whose'],
    [{ who: 'other', whose: 'nobody' }, 'whose'],
    [{ amount: 'much' }, 'amount'],
    [{ amount: '' }, 'amount'],
    [{ time_zone: 'Mars' }, 'time_zone'],
    [{ period: 'hourly', time_zone: 'Europe/Berlin' }, 'time_zone'],
    [{ resource: 'model', patterns: '' }, 'patterns'],
    [{ condition: 'metadata.plan ==' }, 'condition'],
  ] as const) {
    const page = await submit(path, { ...each, ...fields })
    assert.equal(page.status, 422, JSON.stringify(fields))
    assert.match(page.body, new RegExp(`id="${field}-fault"`), JSON.stringify(fields))
  }
  assert.equal((await submit(path, each)).status, 303)
  assert.match((await submit(path, each)).text, /Nothing was done yet\. Check this:.*name/i)
  const trial = `${base}${policies}/~simulate`
  const began = performance.now()
  const blank = await submit(trial, { ...anyCall, metadata: ' '.repeat(2_500) })
  assert.match(blank.text, /The call is refused/)
  assert.ok(performance.now() - began < 5_000)
  const unnamed = await submit(trial, { ...anyCall, model: 'gpt' })
  assert.match(unnamed.body, /id="model-fault"/)
})

test('who may only read sees policies and tries calls, and changes nothing', async t => {
  const { base, get, submit, ask, visitor } = await openDashboard(t, 'Administrator Read Only')
  const body = { name: 'Everybody', actor: '*', resource: '*', action: { type: 'no-limit' } }
  await ask('POST', '/ai-gateway/gateways/default/policies', { body })
  const page = await get(base + policies)
  assert.match(page.text, /Added Everybody/)
  assert.doesNotMatch(page.body, /~new|~commit|~discard|policies\/[0-9a-f]{32}/)
  assert.match(
    (await submit(`${base}${policies}/~simulate`, anyCall)).text,
    /The call is allowed by Everybody/,
  )
  for (const below of ['~new', '~commit', '~discard', 'f'.repeat(32)])
    assert.equal((await visitor.post(`${base}${policies}/${below}`, {})).status, 404, below)
})
