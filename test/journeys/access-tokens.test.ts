// Access tokens over real processes: what another process ends, every worker and the side port refuse within a second.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { completion } from '../help/ai.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { say, startProvider } from '../help/provider.ts'
import { type RedisServer, startRedis } from '../help/redis.ts'
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

type Place = Awaited<ReturnType<typeof start>>

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

for (const kind of thorough(['SQLite', 'Redis'] as const, ['Redis'] as const))
  for (const workers of thorough([0, 2], [2]))
    test(`${kind}, workers ${workers}: whatever of an access token another process ends, the edge and the side port refuse it within a second; and one worker tells the other of one, for as long as Redis is dead`, async t => {
      const redis = kind === 'Redis' ? await startRedis(t) : null
      const place = await start(t, workers, redis?.url ?? `sqlite:${temporaryFile(t)}`)
      const { store, account, calls, list } = place
      const outliveRedis = redis && workers > 0 ? await seeOne(place, redis) : null
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
      await outliveRedis?.()
    })

/** Has one worker see one of two tokens; with what is returned, that one is valid on both while Redis is dead, and the other on neither. */
async function seeOne({ gateway, store, account, calls }: Place, redis: RedisServer) {
  const seen = await keepAccess(store, { account, now: Date.now(), scopes })
  const unseen = await keepAccess(store, { account, now: Date.now(), scopes })
  const sample = async (name: string) => readMetrics(await gateway.metrics()).samples.get(name)
  const told = () => sample('gatehouse_token_lookups_total{source="told"}')
  const grants = () => sample('gatehouse_oauth_grants')
  assert.equal(await calls[0]!(seen.value), 200)
  await until(async () => (await told()) === 2, busySecond)
  assert.equal(await grants(), 2)
  return async () => {
    await redis.kill()
    await until(async () => (await grants()) === undefined)
    for (const call of [...calls, ...calls]) assert.equal(await call(seen.value), 200)
    for (const call of calls) assert.equal(await call(unseen.value), 503)
  }
}
