// Access tokens over real processes: what another process ends, every worker and the side port refuse within a second.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { completion } from '../help/ai.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { startRedis } from '../help/redis.ts'
import { thorough } from '../help/thorough.ts'
import { busySecond, until } from '../help/until.ts'
import { lineToEach } from '../help/workers.ts'
import { endsOf, keepAccess } from '../oauth/grants/keep-access.ts'
import { temporaryFile } from '../store/sqlite/temporary-file.ts'

const chat = { model: 'openai/gpt-4o-mini', messages: [] }
const scopes = ['ai_gateway.run', 'ai_gateway.read']

type Ask = (token: string) => Promise<number>

/** Starts a gateway, and opens its store as another process does. */
async function start(t: TestContext, workers: number, url: string) {
  const provider = await startProvider(t, (_, response) => say(response, completion))
  const gateway = await startGateway(
    t,
    `
workers: ${workers}
log: { level: info }
store: { url: '\${STORE}', command_timeout: 5s }
ai: { hosts: [127.0.0.1], providers: { openai: { url: '${provider.url}' } } }
zones: []
`,
    { env: { STORE: url } },
  )
  const { account } = await gateway.firstStart
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  await until(() => !store.isUnreachable)
  const base = `/client/v4/accounts/${account}`
  const calls = await callsOf(t, gateway, workers, `${base}/ai/v1/chat/completions`)
  const list: Ask = async token => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(`${gateway.admin}${base}/ai-gateway/gateways`, { headers })).status
  }
  return { gateway, store, account, calls, list }
}

/** Returns what calls each process of the edge. */
async function callsOf(
  t: TestContext,
  gateway: RunningGateway,
  workers: number,
  path: string,
): Promise<Ask[]> {
  const requestOf = (token: string) => ({
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat),
  })
  if (workers === 0) return [async token => (await fetch(`${gateway.edge}${path}`, requestOf(token))).status]
  return (await lineToEach(t, gateway)).map(
    line => async (token: string) => (await line.send(path, requestOf(token))).status,
  )
}

for (const place of thorough(['SQLite', 'Redis'] as const, ['Redis'] as const))
  for (const workers of thorough([0, 2], [2]))
    test(`${place}, workers ${workers}: whatever of an access token another process ends, the edge and the side port refuse it within a second`, async t => {
      const url = place === 'SQLite' ? `sqlite:${temporaryFile(t)}` : (await startRedis(t)).url
      const { store, account, calls, list } = await start(t, workers, url)
      for (const [what, { end, status }] of Object.entries(endsOf)) {
        const kept = await keepAccess(store, { account, now: Date.now(), scopes })
        const { value } = kept
        for (const ask of [...calls, list, ...calls]) assert.equal(await ask(value), 200, what)
        await end(store, kept)
        const began = performance.now()
        for (const [at, ask] of [...calls, list].entries()) {
          const isCall = at < calls.length
          await until(async () => (await ask(value)) === (isCall ? status.call : status.list), busySecond)
        }
        t.diagnostic(`${what}: ${(performance.now() - began).toFixed(0)} ms`)
      }
    })

test('an access token that a worker has seen is valid on both while the store is unreachable', async t => {
  const redis = await startRedis(t)
  const { gateway, store, account, calls } = await start(t, 2, redis.url)
  const seen = await keepAccess(store, { account, now: Date.now(), scopes })
  const unseen = await keepAccess(store, { account, now: Date.now(), scopes })
  assert.equal(await calls[0]!(seen.value), 200)
  await until(async () => {
    const { samples } = readMetrics(await gateway.metrics())
    return samples.get('gatehouse_token_lookups_total{source="told"}') === 2
  }, busySecond)
  const grants = async () => readMetrics(await gateway.metrics()).samples.get('gatehouse_oauth_grants')
  assert.equal(await grants(), 2)
  await redis.kill()
  await until(async () => (await grants()) === undefined)
  for (const call of [...calls, ...calls]) assert.equal(await call(seen.value), 200)
  for (const call of calls) assert.equal(await call(unseen.value), 503)
})
