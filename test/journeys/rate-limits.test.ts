// The way of an operator with rate limits: write them into the file, see them refuse over several processes, change them while the gateway runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startGateway } from '../help/gateway.ts'
import { completion } from '../help/ai.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { busySecond, until } from '../help/until.ts'

const day = 86_400_000
const stores: readonly string[] = ['SQLite', 'Redis']

for (const name of thorough(stores, stores.slice(0, 1))) {
  test(`${name}: two workers share the limits and quotas of the file`, async t => {
    const origin = await startSite(t, (_, response) => void response.end('fine'))
    const configure = (rate: string) => `
workers: 2
store: { url: '\${STORE:-}', command_timeout: 5s }
rate_limits: [{name: per-client, rate: ${rate}, when: 'request.path.startsWith("/limited")'}]
pools: {site: {origins: ['${origin}']}}
zones:
  - {name: site, hosts: [127.0.0.1], quota: {day: 40}, routes: [{path: /, pool: site}]}
`
    // A quota begins anew with each day of UTC.
    const leftOfDay = day - (Date.now() % day)
    if (leftOfDay < 2 * busySecond) await wait(leftOfDay)
    const env = name === 'Redis' ? { STORE: (await startRedis(t)).url } : {}
    const gateway = await startGateway(t, configure('10/h'), { env })
    // Each on a connection of its own, so that both workers have some.
    const ask = async (path: string) => {
      const answer = await fetch(gateway.edge + path, {
        headers: { connection: 'close', accept: 'application/json' },
      })
      return { status: answer.status, fields: answer.headers, text: await answer.text() }
    }
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask('/limited')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 10)
    const refused = answers.find(({ status }) => status === 429)!
    const { error_code, retry_after } = JSON.parse(refused.text)
    assert.equal(error_code, 1015)
    assert.equal(refused.fields.get('retry-after'), String(retry_after))
    assert.equal(refused.fields.get('ratelimit-policy'), '"per-client";q=10;w=3600')
    assert.match(
      await gateway.metrics(),
      /gatehouse_rate_limit_decisions_total\{rule="per-client",result="limited"\} 20/,
    )
    gateway.rewrite(configure('20/h'))
    gateway.signal('SIGHUP')
    await gateway.logged('configuration reloaded')
    const more = await Promise.all(Array.from({ length: 15 }, () => ask('/limited')))
    assert.equal(more.filter(({ status }) => status === 200).length, 10)
    const rest = await Promise.all(Array.from({ length: 30 }, () => ask('/')))
    assert.equal(rest.filter(({ status }) => status === 200).length, 20)
    const full = JSON.parse(rest.find(({ status }) => status === 429)!.text)
    assert.deepEqual([full.error_code, full.retryable, full.retry_after], [1027, false, undefined])
  })
}

test('the limit of a gateway that the API sets takes effect within a second', async t => {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const gateway = await startGateway(
    t,
    `
workers: 1
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
  )
  const { account, token } = await gateway.firstStart
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    connection: 'close',
  }
  const put = (body: object) =>
    fetch(`${gateway.admin}/client/v4/accounts/${account}/ai-gateway/gateways/default`, {
      method: 'PUT',
      headers,
      body: JSON.stringify(body),
    })
  const call = async () => {
    const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [] })
    const answer = await fetch(`${gateway.edge}/client/v4/accounts/${account}/ai/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    })
    await answer.arrayBuffer()
    return answer.status
  }
  assert.deepEqual(await Promise.all(Array.from({ length: 10 }, call)), Array(10).fill(200))
  assert.equal((await put({ rate_limiting_limit: 3, rate_limiting_interval: 3_600 })).status, 200)
  await until(async () => (await call()) === 429, busySecond)
  assert.equal((await put({})).status, 200)
  await until(async () => (await call()) === 200, busySecond)
})

for (const name of stores) {
  test(`${name}: the limit of a gateway admits exactly that many simultaneous calls`, async t => {
    const provider = await startProvider(t, (_, response) => say(response, completion))
    const env = name === 'Redis' ? { STORE: (await startRedis(t)).url } : {}
    const gateway = await startGateway(
      t,
      `
workers: ${thorough(4, 2)}
store: { url: '\${STORE:-}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
      { env },
    )
    const { account, token } = await gateway.firstStart
    const post = async (url: string, body: object, more = {}) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        connection: 'close',
        ...more,
      }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      await response.arrayBuffer()
      return response.status
    }
    const api = `/client/v4/accounts/${account}`
    for (const most of thorough([20, 200, 200], [20, 100])) {
      const id = `g${performance.now().toFixed()}`
      const limit = { id, rate_limiting_limit: most, rate_limiting_interval: 3_600 }
      assert.equal(await post(`${gateway.admin}${api}/ai-gateway/gateways`, limit), 200)
      const call = () =>
        post(
          `${gateway.edge}${api}/ai/v1/chat/completions`,
          { model: 'openai/gpt-4o-mini', messages: [] },
          { 'svc-aig-gateway-id': id },
        )
      await until(async () => (await call()) === 200, busySecond)
      // A few first: a limit that seems far is where workers might let calls in by themselves.
      const first = await Promise.all(Array.from({ length: most / 10 }, call))
      const rush = await Promise.all(Array.from({ length: most + 40 }, call))
      const admitted = [...first, ...rush].filter(status => status === 200).length
      assert.equal(1 + admitted, most)
    }
    // Decided alone, it would have said nothing of what is shared.
    const [, alone] = /^gatehouse_rate_limit_fallbacks_total (\d+)$/m.exec(await gateway.metrics())!
    assert.equal(alone, '0')
  })
}
