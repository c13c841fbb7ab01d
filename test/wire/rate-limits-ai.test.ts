// The rate limits of AI gateways on the wire: for calls that were let in, in the form of their callers.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { GatewayRateLimit } from '../../src/store/records/records.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { startResponder } from '../help/origin.ts'

const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [] })
const limit: GatewayRateLimit = { limit: 2, interval: 60, technique: 'sliding' }

async function start(t: TestContext, settings: AiSettings = {}) {
  const openai = await startResponder(t, json(completion))
  const clock = new ManualClock()
  const providers = { openai: { url: openai.url, keys: ['sk-ours'] } }
  const ai = await startAi(t, providers, {
    ...patient,
    gateway: { rateLimit: limit },
    clock,
    ...settings,
  })
  const ask = (token: string = ai.token) =>
    ai.edge.ask(
      call(
        `${ai.rest}/v1/chat/completions`,
        body,
        `Authorization: Bearer ${token}`,
        'Accept: application/json',
      ),
    )
  const statuses = async (times: number) => {
    const all: number[] = []
    for (let i = 0; i < times; i++) all.push((await ask()).status)
    return all
  }
  return { ai, openai, clock, ask, statuses }
}

test('a call over the limit of its gateway is 1015 in the form of SDKs, and is not logged', async t => {
  const { ai, openai, clock, ask, statuses } = await start(t)
  assert.deepEqual(await statuses(2), [200, 200])
  clock.advance(20_000)
  const refused = await ask()
  assert.equal(refused.status, 429)
  const { error, error_code, retry_after } = JSON.parse(refused.text)
  assert.deepEqual([error_code, error.type, error.code], [1015, 'rate_limited', 1015])
  assert.equal(refused.field('retry-after'), String(retry_after))
  assert.ok(retry_after >= 40 && retry_after <= 41, retry_after)
  assert.equal(refused.field('x-should-retry'), 'true')
  assert.equal(refused.field('ratelimit'), `"ai-gateway";r=0;t=${retry_after}`)
  assert.equal(refused.field('ratelimit-policy'), '"ai-gateway";q=2;w=60')
  assert.equal(openai.requests.length, 2)
  assert.equal(ai.edge.accesses.at(-1)!.cause, 'rate limit of gateway default')
  clock.advance(retry_after * 1_000)
  assert.deepEqual(await statuses(2), [200, 200])
  assert.equal((await ai.logged(4)).length, 4)
  const { allowed, limited } = ai.edge.metrics.limits.rule('ai:gateway')
  assert.deepEqual([allowed.value, limited.value], [4, 1])
})

test('responses of providers have the fields of the limit', async t => {
  const { ask } = await start(t)
  assert.equal((await ask()).field('ratelimit'), '"ai-gateway";r=1;t=60')
})

test('fixed intervals follow one another', async t => {
  const { clock, statuses } = await start(t, { gateway: { rateLimit: { ...limit, technique: 'fixed' } } })
  clock.advance(59_000)
  assert.deepEqual(await statuses(3), [200, 200, 429])
  clock.advance(1_000)
  assert.deepEqual(await statuses(3), [200, 200, 429])
})

test('calls that are refused are not counted', async t => {
  const { ai, ask, statuses } = await start(t)
  const stranger = await ai.mint({ permissions: [] })
  for (const token of [stranger, stranger, stranger, 'none', 'none'])
    assert.ok([401, 403].includes((await ask(token)).status))
  assert.deepEqual(await statuses(3), [200, 200, 429])
})

test('a connection whose call was refused unread stays open', async t => {
  const { ai } = await start(t, { gateway: { rateLimit: { ...limit, limit: 1 } } })
  const client = await ai.edge.connect()
  const statuses: number[] = []
  for (let i = 0; i < 3; i++) {
    await client.send(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${ai.token}`))
    statuses.push((await client.response()).status)
  }
  assert.deepEqual(statuses, [200, 429, 429])
})

test('0 is no limit, as is a record without one', async t => {
  const off = await start(t, { gateway: { rateLimit: { limit: 0, interval: 60, technique: 'fixed' } } })
  assert.deepEqual(await off.statuses(3), [200, 200, 200])
  const absent = await start(t, { gateway: {} })
  assert.deepEqual(await absent.statuses(3), [200, 200, 200])
})

const few = {
  name: 'few',
  limit: 3,
  period: 3_600_000,
  key: [{ by: 'token' }],
  when: null,
  action: 'block',
} as const

test('the limits of the file apply on AI hosts too, and each has its fields', async t => {
  const { ai, clock, ask } = await start(t, { rateLimits: [few] })
  const first = await ask()
  assert.deepEqual(first.all('ratelimit'), ['"few";r=2;t=3600', '"ai-gateway";r=1;t=60'])
  clock.advance(62_000)
  await ask()
  await ask()
  const refused = await ask()
  assert.equal(refused.status, 429)
  assert.equal(refused.field('ratelimit-policy'), '"few";q=3;w=3600')
  clock.advance(62_000)
  assert.equal((await ask(await ai.mint())).status, 200)
})

test('made-up tokens get no further than a limit by address lets them', async t => {
  const perAddress = { ...few, name: 'per-address', limit: 6, key: [{ by: 'address' }] } as const
  const { ai } = await start(t, { gateway: {}, rateLimits: [few, perAddress] })
  const token = await ai.mint()
  const send = async (value: string) =>
    (await ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, body, `Authorization: Bearer ${value}`))).status
  assert.equal(await send(token), 200)
  const statuses: number[] = []
  for (let i = 0; i < 8; i++) statuses.push(await send(mintToken('svco_').value))
  assert.deepEqual(statuses, [401, 401, 401, 401, 401, 429, 429, 429])
})

test('a token is counted by the field that authenticates, whatever else is sent', async t => {
  const { ai } = await start(t, { gateway: {}, rateLimits: [few] })
  const open = await start(t, { gateway: { authentication: false }, rateLimits: [few] })
  const cases: readonly [path: string, counted: string, other: string, edge: typeof ai.edge][] = [
    [`${ai.rest}/v1/chat/completions`, 'Authorization', 'svc-aig-authorization', ai.edge],
    [ai.native('openai/chat/completions'), 'svc-aig-authorization', 'Authorization', ai.edge],
    [open.ai.native('openai/chat/completions'), 'Authorization', 'X-Nothing', open.ai.edge],
  ]
  for (const [path, counted, other, edge] of cases) {
    const token = await ai.mint()
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) {
      const fields = [`${counted}: Bearer ${token}`, `${other}: Bearer made-up-${i}`]
      statuses.push((await edge.ask(call(path, body, ...fields))).status)
    }
    assert.deepEqual(statuses, [200, 200, 200, 429], path)
  }
})
