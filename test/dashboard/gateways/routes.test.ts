import assert from 'node:assert/strict'
import { test } from 'node:test'
import { elementsFrom, rowsIn } from '../../../src/dashboard/gateways/model-routes/route-form.ts'
import { conditionInWords } from '../../../src/dashboard/gateways/model-routes/model-route.ts'
import { readElements } from '../../../src/ai/failover/route-elements.ts'
import { openDashboard } from '../site.ts'

const list = {
  name: 'chat',
  kind: 'list',
  'model.0': 'openai/gpt-4o-mini',
  'timeout.0': '2.5',
  'model.1': 'groq/llama-3.3-70b',
  'retries.1': '2',
}
const routes = '/gateways/default/routes'

test('a route is created from a list of models, changed, rolled back and deleted', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const empty = await get(base + routes)
  assert.match(empty.text, /No routes yet A route is a name that callers send/)
  assert.match(
    empty.body,
    new RegExp(`href="${base}/docs/failover#dynamic-routes".*href="${base}${routes}/new"`, 's'),
  )

  assert.match((await get(`${base}/docs/failover`)).body, /id="dynamic-routes"/)
  const created = await submit(`${base}${routes}/new`, list)
  assert.equal(created.status, 303, created.text)
  const page = await created.follow()
  assert.match(
    page.text,
    /The route was created\..*dynamic\/chat.*openai\/gpt-4o-mini, then groq\/llama-3.3-70b/,
  )
  assert.match(
    page.text,
    /Calls openai\/gpt-4o-mini: 2.5 s until its first content if it fails: model 1, then 2/,
  )
  assert.match(page.text, /Calls groq\/llama-3.3-70b: 30 s until its first content, 2 retries/)
  const path = created.location!.replace(/\?.*/, '')
  assert.match((await get(base + routes)).text, /chat openai\/gpt-4o-mini, then groq\/llama-3.3-70b/)

  const form = await get(`${path}/edit`)
  assert.match(form.body, /name="model.1"[^>]* value="groq\/llama-3.3-70b"/)
  assert.match(form.body, /name="deploy" type="checkbox" value="on" checked/)
  const shares = { ...list, name: 'talk', 'share.1': '20' }
  const saved = await form.submit(`${path}/edit`, { ...shares, deploy: 'on' })
  assert.match((await saved.follow()).text, /20% model 2: groq.*, then openai.*; others: openai.*, then groq/)
  assert.match((await get(`${path}/edit`)).body, /name="share.1"[^>]* value="20"/)

  // The form was for the first version.
  const late = await form.submit(`${path}/edit`, { ...list, deploy: 'on' })
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this.*It is now: talk\..*It is now: 20% model 2: groq/)

  const [{ version_id: first }] = (
    await ask('GET', `/ai-gateway/gateways/default/routes/${path.slice(-32)}/versions`)
  ).json.data.versions.slice(-1)
  const confirm = await get(`${path}/versions/${first}`)
  assert.match(confirm.text, /Deploy this version\?.*dynamic\/talk.*within a second: openai/)
  const rolled = await confirm.submit(`${path}/versions/${first}`)
  assert.match(
    (await rolled.follow()).text,
    /The version was deployed\..*Leads to openai\/gpt-4o-mini, then groq/,
  )

  assert.match((await get(`${path}/delete`)).text, /Delete this route\?/)
  const deleted = await submit(`${path}/delete`)
  assert.match((await deleted.follow()).text, /The route was deleted.*No routes yet/)
  assert.equal((await get(path)).status, 404)
})

test('a version is saved without deployment', async t => {
  const { base, submit } = await openDashboard(t)
  const path = (await submit(`${base}${routes}/new`, list)).location!.replace(/\?.*/, '')
  const saved = await submit(`${path}/edit`, { ...list, 'model.0': 'openai/gpt-5' })
  assert.match((await saved.follow()).text, /Leads to openai\/gpt-4o-mini.*Leads to.*openai\/gpt-5.*Deploy…/)
})

test('mistakes of a list are shown at their rows, and those of elements by their names', async t => {
  const { base, submit } = await openDashboard(t)
  const send = (fields: Readonly<Record<string, string>>) =>
    submit(`${base}${routes}/new`, { ...list, ...fields })
  for (const [fields, field, sentence] of [
    [{ 'model.0': 'gpt' }, 'model.0', /Must be PROVIDER\/MODEL/],
    [{ 'model.1': 'nobody/gpt' }, 'model.1', /This has an unknown provider.*nobody/],
    [{ 'timeout.0': 'soon' }, 'timeout.0', /Must be seconds/],
    [{ 'retries.1': '9' }, 'retries.1', /from 0 to 4/],
    [{ 'share.0': '80', 'share.1': '30' }, 'share.1', /must add up to 100, .*they add up to 110/],
    [{ 'model.0': '', 'timeout.0': '', 'model.1': '', 'retries.1': '' }, 'model.0', /at least one/],
    [{ name: '' }, 'name', /Must be 1 to 64/],
    [{ kind: 'elements', elements: '[' }, 'elements', /Must be JSON/],
    [{ kind: 'elements', elements: '[]' }, 'elements', /./],
    [
      { kind: 'elements', elements: '[{"id":"go","type":"start","outputs":{"next":{"elementId":"x"}}}]' },
      'elements',
      /element "go" leads to an unknown element, "x"/i,
    ],
  ] as const) {
    const refused = await send(fields as Readonly<Record<string, string>>)
    assert.equal(refused.status, 422, JSON.stringify(fields))
    assert.ok(refused.body.includes(`id="${field}-fault"`), `${field}: ${refused.text}`)
    assert.match(refused.text, sentence)
  }
  assert.equal((await send({})).status, 303)
  const taken = await send({})
  assert.match(taken.text, /Is taken by another dynamic route of this gateway/)
  assert.ok(taken.body.includes('id="name-fault"'))
})

test('a gateway that is full of routes says so', async t => {
  const { base, submit } = await openDashboard(t)
  for (let i = 0; i < 100; i++) await submit(`${base}${routes}/new`, { ...list, name: `chat-${i}` })
  const refused = await submit(`${base}${routes}/new`, list)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /The gateway already has 100 dynamic routes: delete one first/)
})

test('people who may only read see routes and aliases, and nothing to change them', async t => {
  const { base, submit, get, signIn, addPerson, edge } = await openDashboard(t)
  edge.entrance = { aliases: [{ name: 'fast', models: ['openai/a', 'groq/b'] }] } as never
  const path = (await submit(`${base}${routes}/new`, list)).location!.replace(/\?.*/, '')
  assert.match((await get(base + routes)).text, /from the configuration file.*fast openai\/a, then groq\/b/)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  for (const page of [base + routes, path]) {
    const { status, body } = await reader.get(page)
    assert.equal(status, 200)
    assert.doesNotMatch(body, /\/(?:new|edit|delete|versions\/\w+)"/)
  }
  for (const page of [`${base}${routes}/new`, `${path}/edit`, `${path}/delete`])
    assert.equal((await reader.get(page)).status, 404)
})

test('every list makes elements that the API takes, and is read from them again', () => {
  const row = (model: string, share: number | null = null) => ({
    ...{ provider: 'openai', model, timeout: 1000, retries: 0, share },
  })
  for (const shares of [
    [null],
    [null, null, null],
    [20, null],
    [null, 12.5, 30],
    [60, 40],
    [100, null],
    [1, 2, 3, 4, 90],
  ]) {
    const rows = shares.map((share, i) => row(`m${i}`, share))
    const elements = elementsFrom(rows)
    assert.equal(
      readElements(elements, () => true),
      elements,
      JSON.stringify(shares),
    )
    assert.deepEqual(rowsIn(elements), rows)
    assert.equal(rowsIn(elements.map(one => (one.type === 'end' ? { ...one, id: 'bye' } : one))), null)
  }
})

test('conditions are told in words', () => {
  assert.equal(
    conditionInWords({
      'metadata.plan': { $in: ['pro', 'team'], $not: { $eq: 'x' } },
      $or: [{ token: 'abc' }, { app: { $exists: false } }],
      $not: { 'metadata.size': { $gt: 5, $lte: 9 } },
    }),
    'metadata.plan is one of "pro", "team" and not (metadata.plan is "x") and (token is "abc") or (app is not set) and not (metadata.size is more than 5 and metadata.size is at most 9)',
  )
})
