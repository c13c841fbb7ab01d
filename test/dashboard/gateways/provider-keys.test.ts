import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDashboard, password } from '../site.ts'

const keys = '/gateways/default/keys'
const secret = 'sk-0123456789abcdef'
const fields = {
  provider_slug: 'openai',
  'proof.secret': secret,
  alias: 'production',
  default_config: 'on',
}

test('a key is added, is never shown again, and is deleted', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const empty = await get(base + keys)
  assert.match(empty.text, /No keys yet.*AI Gateway Edit.*stored sealed, and never shown again/)
  const added = await submit(`${base}${keys}/new`, fields)
  assert.equal(added.status, 303, added.text)
  const list = await added.follow()
  assert.match(list.text, /The key was added\..*openai production default …cdef never/)
  assert.ok(!list.body.includes(secret))
  const { result } = (await ask('GET', '/ai-gateway/gateways/default/provider_configs')).json
  const path = `${base}${keys}/${result[0].id}/delete`
  const confirm = await get(path)
  assert.match(confirm.text, /Delete this key\?.*openai production …cdef.*last used: never/)
  const deleted = await confirm.submit(path)
  assert.match((await deleted.follow()).text, /The key was deleted\..*No keys yet/)
  assert.equal((await get(path)).status, 404)
})

test('mistakes are shown at their fields, and the key is asked for again', async t => {
  const { base, submit } = await openDashboard(t)
  for (const [change, field, sentence] of [
    [{ 'proof.secret': '' }, 'proof.secret', /Enter the key/],
    [{ 'proof.secret': 'with space' }, 'proof.secret', /visible ASCII characters/],
    [{ alias: 'a b' }, 'alias', /1 to 64 letters, digits, dots/],
  ] as const) {
    const refused = await submit(`${base}${keys}/new`, { ...fields, ...change })
    assert.equal(refused.status, 422)
    assert.ok(refused.body.includes(`id="${field}-fault"`), `${field}: ${refused.text}`)
    assert.match(refused.text, sentence)
    assert.ok(!refused.body.includes(secret))
  }
  const unknown = await submit(`${base}${keys}/new`, { ...fields, provider_slug: 'nobody' })
  assert.match(unknown.text, /Nobody is no provider of this gateway or account/i)
})

test('a key does not stay in the page that asks for the password', async t => {
  const { base, get, clock } = await openDashboard(t)
  const path = `${base}${keys}/new`
  const page = await get(path)
  clock.advance(3_600_000)
  const asked = await page.submit(path, fields)
  assert.match(asked.text, /Confirm that it is you/)
  assert.ok(!asked.body.includes(secret))
  const again = await asked.submit(path, { 'proof.password': password })
  assert.match(again.text, /Enter the key/)
  assert.match(again.body, /name="alias"[^>]* value="production"/)
  assert.equal((await again.submit(path, fields)).status, 303)
})

test('a gateway can be kept from the keys of the configuration', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const path = `${base}/gateways/default/settings`
  const settings = {
    ...{ rate_limiting_limit: '0', rate_limiting_interval: '60', rate_limiting_technique: 'fixed' },
    ...{ retry_max_attempts: '1', retry_delay: '200', retry_backoff: 'constant', on_abandon: 'abort' },
    ...{ cache_ttl: '0', cache_scope: 'token' },
    ...{ rate_limiting_key: 'gateway', log_management: '10', log_management_strategy: 'DELETE_OLDEST' },
  }
  const saved = await submit(path, { ...settings, byok_only: 'on' })
  assert.match((await saved.follow()).text, /Keys of providers Of this gateway and of callers/)
  assert.equal((await ask('GET', '/ai-gateway/gateways/default')).json.result.byok_only, true)
  assert.match((await get(base + keys)).text, /Calls that find none here and bring none are refused/)
  assert.match((await get(path)).body, /name="byok_only" type="checkbox" value="on" checked/)
})

test('people who may not set keys do not see them', async t => {
  const { base, signIn, addPerson } = await openDashboard(t)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  assert.equal((await reader.get(base + keys)).status, 404)
  assert.doesNotMatch((await reader.get(`${base}/gateways/default`)).text, /Provider keys/)
})
