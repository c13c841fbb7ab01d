import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDashboard } from '../site.ts'

const custom = '/custom-providers'
const fields = { name: 'Team', slug: 'team', base_url: 'https://llm.example/v1' }

test('a provider is added, disabled, enabled and deleted', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  assert.ok((await get(`${base}/providers`)).body.includes(`href="${base}${custom}"`))
  assert.match(
    (await get(base + custom)).text,
    /No custom providers yet.*must be https, and public unless the operator allows.*AI Gateway Edit/,
  )
  const added = await submit(`${base}${custom}/~new`, fields)
  assert.equal(added.status, 303, added.text)
  assert.match(
    (await added.follow()).text,
    /The provider was added\..*Team custom-team https:\/\/llm\.example\/v1 on/,
  )
  const links = async () =>
    (await get(`${base}/audit?type=custom_provider`)).body.split(`href="${base}${custom}"`).length - 1
  assert.equal(await links(), 1)
  const isEnabled = async () => (await ask('GET', '/ai-gateway/custom-providers/team')).json.result.enable
  const disabled = await submit(`${base}${custom}/team/state`)
  assert.match((await disabled.follow()).text, /The provider is disabled\..*llm\.example\/v1 off/)
  assert.equal(await isEnabled(), false)
  const enabled = await submit(`${base}${custom}/team/state`)
  assert.match((await enabled.follow()).text, /The provider is enabled\./)
  assert.equal(await isEnabled(), true)
  assert.match((await get(`${base}/gateways/default/keys/new`)).body, /<option value="custom-team">/)
  const deleted = await submit(`${base}${custom}/team/delete`)
  assert.match((await deleted.follow()).text, /The provider was deleted\..*No custom providers yet/)
  assert.equal(await links(), 0)
  for (const page of ['state', 'delete'])
    assert.equal((await get(`${base}${custom}/team/${page}`)).status, 404)
})

test('mistakes are shown at their fields', async t => {
  const { base, submit } = await openDashboard(t)
  for (const [change, field, sentence] of [
    [{ name: '' }, 'name', /./],
    [{ slug: 'No' }, 'slug', /1 to 57 lower-case letters/],
    [{ base_url: 'http://llm.example/v1' }, 'base_url', /Must begin with https/],
    [{ base_url: 'llm' }, 'base_url', /./],
  ] as const) {
    const refused = await submit(`${base}${custom}/~new`, { ...fields, ...change })
    assert.equal(refused.status, 422)
    assert.ok(refused.body.includes(`id="${field}-fault"`), `${field}: ${refused.text}`)
    assert.match(refused.text, sentence)
  }
  await submit(`${base}${custom}/~new`, fields)
  const taken = await submit(`${base}${custom}/~new`, fields)
  assert.equal(taken.status, 409)
  assert.ok(taken.body.includes('id="slug-fault"'))
})

test('people who may only read see the providers, and nothing to change them', async t => {
  const { base, submit, signIn, addPerson } = await openDashboard(t)
  await submit(`${base}${custom}/~new`, fields)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  const { text } = await reader.get(base + custom)
  assert.match(text, /Team custom-team/)
  assert.doesNotMatch(text, /Disable|Delete|Add a provider/)
  for (const page of ['~new', 'team/state', 'team/delete'])
    assert.equal((await reader.get(`${base}${custom}/${page}`)).status, 404)
})
