import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openDashboard } from '../../site.ts'

const gateway = '/ai-gateway/gateways/default'
const off = { id: 'off', enabled: false, action: 'BLOCK', check: ['REQUEST'], profiles: ['*'] }
const keys = {
  ...{ id: 'keys', enabled: true, action: 'REDACT', check: ['REQUEST', 'RESPONSE'] },
  profiles: ['openai_key'],
}
const url = 'https://guard.example/'
const webhook = { url, check: ['REQUEST', 'RESPONSE'], timeout: 500 }
const dlp = { enabled: true, policies: [keys, off], webhook }

async function openGuarded(t: Parameters<typeof openDashboard>[0], role?: 'Administrator Read Only') {
  const site = await openDashboard(t, role)
  const { kept, account } = site
  const { record, version } = (await kept.gateways.get(account, 'default'))!
  const rules = [
    {
      id: 'keys',
      isEnabled: true,
      action: 'redact',
      checks: ['request', 'response'],
      patterns: ['openai_key'],
    },
    { id: 'off', isEnabled: false, action: 'block', checks: ['request'], patterns: ['*'] },
  ] as const
  const own = { url, checks: ['request', 'response'], timeout: 500, sealed: 'x' } as const
  await kept.gateways.replace({ ...record, guard: { isEnabled: true, rules, webhook: own } }, version)
  return site
}

test('the other forms of a gateway leave its guard as it is', async t => {
  const { base, get, ask } = await openGuarded(t)
  for (const path of [`${base}/gateways/default/settings`, `${base}/gateways/default/budgets/~settings`]) {
    const form = await get(path)
    const values = { log_management: '5', default_max_tokens: '5', authentication: 'on' }
    await form.submit(path, { ...form.hidden(path), ...values })
    assert.deepEqual((await ask('GET', gateway)).json.result.dlp, dlp, path)
  }
})

test('each pattern is flagged, redacted or blocked, in requests and in responses', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const path = `${base}/gateways/default/guard`
  assert.match((await get(`${base}/gateways/default`)).text, /Nothing is looked for.*Set up the guard/)
  const choices = {
    'request.all': 'FLAG',
    'response.all': 'FLAG',
    'request.private_key': 'BLOCK',
    'response.private_key': 'BLOCK',
    'response.card_number': 'REDACT',
  }
  const saved = await submit(path, { enabled: 'on', ...choices })
  assert.match(
    (await saved.follow()).text,
    /The guard was saved.*All patterns Flag Flag private_key Block Block card_number Flag Redact/,
  )
  const { result } = (await ask('GET', gateway)).json
  assert.equal(result.dlp.enabled, true)
  assert.deepEqual(
    result.dlp.policies.map(({ action, check, profiles }: typeof keys) => [action, check, profiles]),
    [
      ['BLOCK', ['REQUEST', 'RESPONSE'], ['private_key']],
      ['REDACT', ['RESPONSE'], ['card_number']],
      ['FLAG', ['REQUEST', 'RESPONSE'], ['*']],
    ],
  )
  assert.match((await get(path)).body, /<option value="REDACT" selected>/)
  const switchedOff = await submit(path, choices)
  assert.match((await switchedOff.follow()).text, /The guard is switched off\./)
  assert.deepEqual((await ask('GET', gateway)).json.result.dlp, { ...result.dlp, enabled: false })
  await submit(path, { enabled: 'on' })
  assert.deepEqual((await ask('GET', gateway)).json.result.dlp, {
    enabled: true,
    policies: [],
    webhook: null,
  })
})

test('policies that the form does not show stay, and their ids', async t => {
  const { base, submit, ask } = await openGuarded(t)
  const path = `${base}/gateways/default/guard`
  const both = { 'request.openai_key': 'REDACT', 'response.openai_key': 'REDACT' }
  await submit(path, { enabled: 'on', ...both, 'request.aws_key': 'REDACT', 'response.aws_key': 'REDACT' })
  assert.deepEqual((await ask('GET', gateway)).json.result.dlp, {
    enabled: true,
    policies: [{ ...keys, profiles: ['openai_key', 'aws_key'] }, off],
    webhook,
  })
})

test('a choice that does nothing is reported at its field', async t => {
  const { base, submit, ask } = await openDashboard(t)
  const path = `${base}/gateways/default/guard`
  const refused = await submit(path, { enabled: 'on', 'request.all': 'BLOCK', 'request.aws_key': 'FLAG' })
  assert.equal(refused.status, 422)
  assert.match(refused.body, /id="request\.aws_key-fault"/)
  assert.match(refused.body, /aria-invalid="true"/)
  assert.equal((await ask('GET', gateway)).json.result.dlp, null)
})

test('nobody overwrites a guard that they have not seen', async t => {
  const { base, get, submit } = await openDashboard(t)
  const path = `${base}/gateways/default/guard`
  const form = await get(path)
  await submit(path, { enabled: 'on', 'request.all': 'BLOCK' })
  const overtaken = await form.submit(path, { enabled: 'on', 'request.all': 'FLAG' })
  assert.equal(overtaken.status, 412)
  assert.match(overtaken.body, /id="request\.all-fault">It is now: BLOCK\./)
  assert.equal((await overtaken.submit(path, { enabled: 'on', 'request.all': 'FLAG' })).status, 303)
})

test('who may only read sees what the guard does', async t => {
  const { base, get } = await openGuarded(t, 'Administrator Read Only')
  assert.match(
    (await get(`${base}/gateways/default`)).text,
    /Guard.*openai_key Redact Redact.*webhook https:\/\/guard\.example\/ decides about requests and responses/,
  )
  assert.doesNotMatch((await get(`${base}/gateways/default`)).text, /Change the guard/)
  assert.equal((await get(`${base}/gateways/default/guard`)).status, 404)
})
