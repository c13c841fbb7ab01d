import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWellFormed } from '../../../src/tokens/token.ts'
import { until } from '../../help/until.ts'
import { entryWith, keepEntries } from '../../admin/ai-logs/log-entries.ts'
import type { ShownPage } from '../../sign-in/site.ts'
import { formToken } from '../../../src/pages/forms/csrf.ts'
import { openDashboard } from '../site.ts'
import { openWithEdge } from './open-entrance.ts'

const valueIn = ({ body }: ShownPage) => /data-copy>(svct_[^<]*)</.exec(body)![1]!

const settings = {
  rate_limiting_limit: '100',
  rate_limiting_interval: '3600',
  rate_limiting_technique: 'sliding',
  rate_limiting_key: 'token',
  retry_max_attempts: '3',
  retry_delay: '500',
  retry_backoff: 'linear',
  on_abandon: 'drain',
  cache_ttl: '3600',
  cache_scope: 'app',
  cache_invalidate_on_update: 'on',
  idempotency_keys: 'on',
  log_management: '5000',
  log_management_strategy: 'STOP_INSERTING',
}

test('a gateway is created from the form, closed unless it is opened', async t => {
  const { base, submit, get, ask, lines } = await openDashboard(t)
  assert.match(
    (await get(`${base}/gateways/~new`)).body,
    /name="authentication" type="checkbox" value="on" checked/,
  )
  const made = await submit(`${base}/gateways/~new`, { id: 'new', authentication: 'on', ...settings })
  assert.equal(made.status, 303)
  const page = await made.follow()
  assert.match(
    page.text,
    /The gateway was created\..*Authenticated Gateway on.*100 calls in 1 hour, for each token/,
  )
  assert.match(page.text, /The first 5,000 calls, without bodies/)
  assert.match(page.text, /Attempts at a model Up to 3.*When a caller leaves The provider may finish/)
  const { result } = (await ask('GET', '/ai-gateway/gateways/new')).json
  assert.deepEqual(
    [result.authentication, result.rate_limiting_technique, result.collect_logs, result.stream_usage],
    [true, 'sliding', false, false],
  )
  assert.deepEqual(
    [result.retry_max_attempts, result.retry_delay, result.retry_backoff, result.on_abandon],
    [3, 500, 'linear', 'drain'],
  )
  assert.deepEqual(
    [result.cache_ttl, result.cache_scope, result.cache_invalidate_on_update],
    [3600, 'app', true],
  )
  assert.equal(result.idempotency_keys, true)
  assert.match(page.text, /Calls with an Idempotency-Key Made once/)
  assert.match(page.text, /Reuse of responses For 1 hour, for each app/)
  assert.match((await get(`${base}/gateways`)).text, /new on 100 calls/)
  assert.match((await get(`${base}/gateways?search=ne`)).body, /gateways\/new"/)
  assert.match((await get(`${base}/gateways?search=zzz`)).text, /No gateway found/)
  assert.ok(lines.some(({ msg }) => /audit/.test(String(msg))))
})

test('mistakes of a gateway are shown next to their fields, and the input stays', async t => {
  const { base, submit } = await openDashboard(t)
  const refused = await submit(`${base}/gateways/~new`, {
    id: 'No Good',
    ...settings,
    rate_limiting_interval: '0',
    log_management: 'many',
  })
  assert.equal(refused.status, 422)
  for (const id of ['id', 'rate_limiting_interval', 'log_management'])
    assert.ok(refused.body.includes(`id="${id}-fault"`), `${id}: ${refused.text}`)
  assert.match(refused.body, /value="No Good"/)
  const taken = await submit(`${base}/gateways/~new`, { id: 'default', ...settings })
  assert.equal(taken.status, 422)
  assert.match(taken.text, /A gateway of this account has this id/)
})

test('settings are changed, and nobody overwrites what they have not seen', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const path = `${base}/gateways/default/settings`
  const form = await get(path)
  assert.match(form.body, /name="collect_logs" type="checkbox" value="on" checked/)
  const saved = await submit(path, { ...settings, collect_logs: 'on' })
  assert.match((await saved.follow()).text, /The settings were saved.*The first 5,000 calls, with bodies/)
  const { result } = (await ask('GET', '/ai-gateway/gateways/default')).json
  assert.deepEqual([result.authentication, result.rate_limiting_limit], [true, 100])
  const overtaken = await form.submit(path, { ...settings, rate_limiting_limit: '7' })
  assert.equal(overtaken.status, 412)
  assert.match(overtaken.text, /It is now: 100\./)
  assert.match(overtaken.body, /value="7"/)
  assert.equal((await overtaken.submit(path, { ...settings, rate_limiting_limit: '7' })).status, 303)
  const refused = await submit(path, { ...settings, log_management: '99999999' })
  assert.equal(refused.status, 422)
  assert.match(refused.body, /id="log_management-fault"/)
})

test('authentication is switched, with a warning where no token has been used yet', async t => {
  const { base, get, submit, ask, kept } = await openDashboard(t)
  const path = `${base}/gateways/default/authentication`
  assert.match((await get(path)).text, /Switch authentication off\?.*without a token/)
  const off = await submit(path)
  assert.match((await off.follow()).text, /Authentication is off: anyone.*Authenticated Gateway off/)
  await keepEntries(kept, [entryWith(1, { authenticated: false })])
  assert.match((await get(path)).text, /No token has been used here yet\..*create a token/)
  await keepEntries(kept, [entryWith(2, { tokenId: 'a'.repeat(32), tokenName: '<b>deploy' })])
  const warned = await get(path)
  assert.doesNotMatch(warned.text, /No token has been used/)
  assert.match(warned.body, /with <bdi>&#60;b&#62;deploy/)
  const form = await get(path)
  assert.equal((await form.submit(path)).status, 303)
  assert.equal((await ask('GET', '/ai-gateway/gateways/default')).json.result.authentication, true)
  // What does not say which way opens nothing.
  for (const to of ['', 'ON']) assert.equal((await (await get(path)).submit(path, { to })).status, 200)
  assert.equal((await ask('GET', '/ai-gateway/gateways/default')).json.result.authentication, true)
  // The form was for what the gateway was then.
  const again = await form.submit(path)
  assert.equal(again.status, 412)
})

test('a token is made for a gateway, shown once, and tried at once', async t => {
  const site = await openWithEdge(t)
  const { base, submit, get, logs, provider, port, account, ask } = site
  const made = await submit(`${base}/gateways/default/tokens/new`, { name: 'deploy' })
  const value = valueIn(made)
  assert.ok(isWellFormed(value))
  assert.match(made.text, /It is shown only now/)
  assert.ok(made.body.includes(`export TOKEN=${value}`))
  assert.ok(made.body.includes(`http://ai.test:${port}/client/v4/accounts/${account}/ai/v1/chat/completions`))
  assert.ok(
    made.body.includes(`http://ai.test:${port}/v1/${account}/default/openai/v1/chat/completions`) ||
      made.body.includes(`http://ai.test:${port}/v1/${account}/default/openai/chat/completions`),
  )
  const [, token] = (await ask('GET', '/tokens?direction=asc')).json.result
  assert.deepEqual(
    token.policies[0].permission_groups.map(({ name }: { name: string }) => name),
    ['AI Gateway Run'],
  )
  const path = `${base}/gateways/default/test`
  const answered = await made.submit(path)
  assert.match(answered.text, /Response 200 .*"content": "Hello\."/)
  assert.equal(provider.asked[0]!.headers.authorization, 'Bearer sk-test')
  const refused = await submit(path, { model: 'openai/gpt-4o-mini' })
  assert.match(refused.text, /Response 401 The gateway refused the call: it had no valid token/)
  assert.equal(provider.asked.length, 1)
  await until(async () => /deploy/.test((await get(`${base}/gateways/default/logs`)).text))
  await logs.close()
})

test('no token is made for a gateway that is not there', async t => {
  const { base, get, visitor, ask } = await openDashboard(t)
  const [from, to] = ['default', 'gone'].map(id => `${base}/gateways/${id}/tokens/new`) as [string, string]
  const form_token = formToken(visitor.cookies.get('gatehouse')!, to)
  const fields = { ...(await get(from)).hidden(from), name: 'deploy', form_token }
  assert.equal((await visitor.post(to, fields)).status, 404)
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
})

test('a test request says what is wrong with it, and what came of it', async t => {
  const { base, submit, get, edge, logs } = await openWithEdge(t, 'AI Gateway Admin', (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<script>alert(1)</script>')
  })
  const path = `${base}/gateways/default/test`
  const faulty = await submit(path, { model: ' ', 'proof.token': 'with space' })
  assert.doesNotMatch(faulty.body, /with space/)
  assert.equal(faulty.status, 422)
  assert.match(faulty.body, /id="model-fault"/)
  assert.match((await submit(path, { model: 'x', 'proof.token': 'a\u00e9' })).body, /id="proof\.token-fault"/)
  await submit(`${base}/gateways/default/authentication`)
  await until(async () => /Response 200/.test((await submit(path, { model: 'openai/gpt-4o-mini' })).text))
  const shown = await submit(path, { model: 'openai/gpt-4o-mini' })
  assert.ok(!shown.body.includes('<script>alert'))
  assert.ok(shown.body.includes('&#60;script&#62;alert'))
  edge.entrance = { ...edge.entrance!, send: () => Promise.reject(new Error('Nobody there.')) }
  assert.match((await submit(path, { model: 'x' })).text, /Nobody there\./)
  edge.entrance = null
  assert.equal((await get(path)).status, 404)
  assert.match((await get(`${base}/gateways/default`)).text, /No host is set for AI gateways/)
  await logs.close()
})

test('a gateway is deleted once its id is typed, with its logs, whose number is said', async t => {
  const { base, get, submit, kept } = await openDashboard(t)
  await keepEntries(kept, [entryWith(1), entryWith(2)])
  const path = `${base}/gateways/default/delete`
  assert.match((await get(path)).text, /2 log entries go with it/)
  const wrong = await submit(path, { typed: 'other' })
  assert.equal(wrong.status, 422)
  const gone = await submit(path, { typed: 'default' })
  assert.match((await gone.follow()).text, /The gateway was deleted.*No gateways yet/)
  assert.equal((await get(`${base}/gateways/default`)).status, 404)
})

test('each role sees and does what it includes', async t => {
  const reader = await openDashboard(t, 'Administrator Read Only')
  const own = `${reader.base}/gateways/default`
  const page = await reader.get(own)
  assert.doesNotMatch(
    page.text,
    /Danger|Change the settings|Switch it|Create an authentication token|test request/,
  )
  assert.doesNotMatch((await reader.get(`${reader.base}/gateways`)).text, /Create a gateway/)
  for (const path of ['settings', 'authentication', 'tokens/new', 'test', 'delete']) {
    assert.equal((await reader.get(`${own}/${path}`)).status, 404, path)
    assert.equal((await reader.visitor.post(`${own}/${path}`, {})).status, 404, path)
  }
  const admin = await openDashboard(t, 'AI Gateway Admin')
  assert.match((await admin.get(`${admin.base}/gateways/default`)).text, /Switch it off… .*Delete…/)
  assert.equal((await admin.get(`${admin.base}/gateways/default/tokens/new`)).status, 404)
  const client = await openDashboard(t, 'OAuth Client Write')
  assert.equal((await client.get(`${client.base}/gateways`)).status, 404)
  assert.equal((await client.get(`${client.base}/gateways/default/logs`)).status, 404)
})
