import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { viewOf } from '../../admin/providers/providers.ts'
import { openDashboard } from '../site.ts'

test('without a provider the page shows the configuration that is missing', async t => {
  const { base, get } = await openDashboard(t)
  const { text } = await get(`${base}/providers`)
  assert.match(text, /No provider yet/)
  assert.match(text, /openai: \{ keys: '\$\{OPENAI_API_KEY\}' \}/)
  assert.match(text, /hosts: \[localhost, 127\.0\.0\.1\]/, 'no host is set for AI gateways')
})

test('the list shows each provider with its state, and where its key comes from', async t => {
  const { base, get, providersGiven, clock } = await openDashboard(t)
  providersGiven.configure({
    openai: {
      keys: ['sk-hidden'],
      keySources: [{ kind: 'environment', variables: ['OPENAI_API_KEY'] }],
    },
    mistral: { keys: ['sk-1', 'sk-2'], keySources: [{ kind: 'configuration' }, { kind: 'configuration' }] },
    anthropic: {},
    ollama: {},
  })
  providersGiven.views = [[viewOf('openai', { lastAt: clock.now(), goodAt: clock.now() })]]
  const { text, body } = await get(`${base}/providers`)
  assert.match(text, /openai works variable OPENAI_API_KEY 1 Jan 2026/)
  assert.match(text, /mistral not called yet in the configuration: 2 keys never/)
  assert.match(text, /anthropic no key the caller’s own never/)
  assert.match(text, /ollama not called yet none needed/)
  assert.doesNotMatch(body, /sk-hidden/)
})

test('a member of another account sees states, but not where keys come from', async t => {
  const { addPerson, signIn, kept, providersGiven } = await openDashboard(t)
  const other = 'b'.repeat(32)
  await kept.accounts.insert({ id: other, name: 'other', createdAt: 1 })
  const keySources = [{ kind: 'file', path: '/run/secrets/openai' }] as const
  providersGiven.configure({ openai: { keys: ['sk-1'], keySources } })
  const visitor = await signIn(await addPerson('Super Administrator', {}, other))
  const list = await visitor.get(`/dashboard/${other}/providers`)
  assert.match(list.text, /openai not called yet set never/)
  const one = await visitor.get(`/dashboard/${other}/providers/openai`)
  assert.match(one.text, /Key 1 set in use/)
  for (const { body } of [list, one]) assert.doesNotMatch(body, /run\/secrets|api\.openai\.com/)
})

test('a test says which key is refused, and what to do', async t => {
  const { base, get, providersGiven } = await openDashboard(t)
  const server = createServer(({ headers }, response) => {
    response.writeHead(headers.authorization === 'Bearer sk-good' ? 200 : 401).end(headers.authorization)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  providersGiven.configure({ openai: { url, keys: ['sk-good', 'sk-revoked'] } })
  const page = `${base}/providers/openai`
  for (const from of [page, `${base}/providers`]) {
    const tested = await (await get(from)).submit(`${page}/test`)
    assert.equal(tested.status, 200)
    assert.match(tested.text, /Key 1 accepted, 200 It takes the key\./)
    assert.match(tested.text, /Key 2 refused, 401 It does not take the key: put a valid one/)
    assert.match(tested.text, /GET \/v1\/models/)
    assert.doesNotMatch(tested.body, /sk-good|sk-revoked/)
  }
})

test('a user without permission to run models gets no test form, and a forged form tests nothing', async t => {
  const { base, visitor, addPerson, signIn, providersGiven } = await openDashboard(t)
  providersGiven.configure({ openai: { url: 'http://127.0.0.1:1/v1' } })
  const page = `${base}/providers/openai`
  assert.equal((await visitor.post(`${page}/test`, {})).status, 403)
  const reader = await signIn(await addPerson('Administrator Read Only'))
  assert.doesNotMatch((await reader.get(page)).body, /\/test"/)
  assert.equal((await reader.post(`${page}/test`, {})).status, 404)
})

test('a key that rests is shown with its reason, and a failure with its cause', async t => {
  const { base, get, providersGiven, clock } = await openDashboard(t)
  providersGiven.configure({ openai: { keys: ['sk-1'] } })
  const keys = [{ restsUntil: clock.now() + 60_000, status: 429 }]
  const failed = { badAt: clock.now(), badError: 'origin_dns_error', badCode: 'ENOTFOUND' } as const
  providersGiven.views = [
    [viewOf('openai', { keys, lastAt: clock.now(), ...failed, failures: 3 })],
    [viewOf('openai', { keys: [{ restsUntil: 0, status: 0 }] })],
  ]
  const { text } = await get(`${base}/providers/openai`)
  assert.match(text, /State fails/)
  assert.match(text, /Its name was not found.*origin_dns_error ENOTFOUND, 3 in a row/)
  assert.match(text, /rests until 1 Jan 2026, 00:01 UTC in 1 of 2 processes: it is at its limit \(429\)/)
  assert.match(text, /Seen by 2 processes on this machine since the start/)
  assert.equal((await get(`${base}/providers/nobody`)).status, 404)
})

test('an only key that is refused is not shown as in use, and one that is missing with its setting', async t => {
  const { base, get, providersGiven, clock } = await openDashboard(t)
  providersGiven.configure({ openai: { keys: ['sk-1'] }, anthropic: {} })
  const keys = [{ restsUntil: 0, status: 0 }]
  providersGiven.views = [[viewOf('openai', { keys, badAt: clock.now(), badStatus: 401, failures: 3 })]]
  const { text } = await get(`${base}/providers/openai`)
  assert.match(text, /State refuses the key .* Key 1 .* refused/)
  assert.doesNotMatch(text, /in use/)
  assert.match((await get(`${base}/providers/anthropic`)).text, /set ai\.providers\.anthropic\.keys in the/)
})

test('a key that is made is shown with its end, and with the reason if it cannot be made', async t => {
  const { base, get, providersGiven, clock } = await openDashboard(t)
  const identity = { by: 'google_machine' } as const
  const config = { resources: ['global'], project: 'acme' }
  providersGiven.configure({ 'google-vertex-ai': { ...config, identity } })
  const see = async (expiresAt: number, failure: string | null) => {
    const keys = [{ restsUntil: 0, status: 0, made: { expiresAt, failure } }]
    providersGiven.views = [[viewOf('google-vertex-ai', { resource: 'global', keys })]]
    return (await get(`${base}/providers/google-vertex-ai.global`)).text
  }
  const end = clock.now() + 3_600_000
  assert.match(await see(end, null), /in use made from an identity, until 1 Jan 2026, 01:00 UTC/)
  const failure = 'metadata.google.internal did not respond (timed out)'
  assert.match(
    await see(end, failure),
    /cannot be renewed made from .*, until 1 Jan 2026, 01:00 UTC .*timed out/,
  )
  assert.match(await see(0, failure), /cannot be made .*metadata\.google\.internal did not respond/)
  providersGiven.configure({ 'google-vertex-ai': config })
  assert.match(
    (await get(`${base}/providers/google-vertex-ai.global`)).text,
    /google-vertex-ai\.service_account in the/,
  )
})
