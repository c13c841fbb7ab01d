// What stored responses are worth to those who should not get them any more, and to calls that only look alike.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Gateway } from '../../src/store/records/records.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { ManualClock, patient } from '../help/clock.ts'
import { startResponder } from '../help/origin.ts'
import { startRedis } from '../help/redis.ts'
import type { Message } from '../help/raw.ts'
import { until } from '../help/until.ts'

const prompt = JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })

async function start(
  t: TestContext,
  settings: AiSettings = {},
  respond: (n: number) => string | Promise<string> = n => json(numbered(n)),
) {
  let calls = 0
  const provider = await startResponder(t, () => respond(++calls))
  const ai = await startAi(
    t,
    Object.fromEntries(['openai', 'anthropic'].map(name => [name, { url: provider.url, keys: ['sk-a'] }])),
    { ...settings, gateway: { cacheTtl: 3600, hasIdempotencyKeys: true, ...settings.gateway } },
  )
  const ask = (text = prompt, ...fields: string[]) =>
    ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, text, `Authorization: Bearer ${ai.token}`, ...fields))
  return { ai, ask, calls: () => calls }
}

const numbered = (n: number) => ({ ...completion, id: `c-${n}` })
const statusOf = (message: Message) => message.field('svc-aig-cache-status')
const replayed = (message: Message) => message.field('svc-aig-idempotency-replayed')
const faultOf = (message: Message) => JSON.parse(message.text).errors[0].message as string
const once = (key: string) => `Idempotency-Key: ${key}`

test('a gateway that is deleted and made anew has nothing of the one before', async t => {
  const { ai, ask } = await start(t)
  await ask()
  await ask(prompt, once('k'))
  assert.deepEqual([statusOf(await ask()), replayed(await ask(prompt, once('k')))], ['HIT', 'true'])
  const { gateways } = ai.store
  const { record } = (await gateways.get(ai.account, 'default'))!
  await gateways.remove(ai.account, 'default')
  await until(async () => (await ask()).status === 404)
  await gateways.insert({ ...record, createdAt: record.createdAt + 1 })
  await until(async () => (await ask(prompt, 'svc-aig-skip-cache: true')).status === 200)
  assert.equal(statusOf(await ask()), 'MISS')
  assert.equal(replayed(await ask(prompt, once('k'))), null)
})

test('a token that was rolled keeps its responses, and its old value gets none', async t => {
  const { ai } = await start(t)
  const value = await ai.mint({ id: 'rolled', name: 'rolled' })
  const as = (value: string) =>
    ai.edge.ask(call(`${ai.rest}/v1/chat/completions`, prompt, `Authorization: Bearer ${value}`))
  assert.equal(statusOf(await as(value)), 'MISS')
  const { value: next, digest } = mintToken()
  const { record, version } = (await ai.store.tokens.get(ai.account, 'rolled'))!
  await ai.store.tokens.replace({ ...record, digest }, version)
  await until(async () => (await as(value)).status === 401)
  assert.equal(statusOf(await as(next)), 'HIT')
})

test('a policy that blocks the call now refuses the hit and the replay', async t => {
  const { ai, ask, calls } = await start(t)
  await ask()
  await ask(prompt, once('k'))
  const policy = { id: '1', name: 'None', actor: '*', resource: '*', action: { type: 'block' } } as const
  await ai.commit([policy])
  await until(async () => (await ask()).status === 403)
  assert.equal((await ask(prompt, once('k'))).status, 403)
  assert.equal(calls(), 2)
})

test('what was stored before a guard is not given to calls after it', async t => {
  const { ai, ask, calls } = await start(t)
  await ask()
  await ask(prompt, once('k'))
  const rule = { id: 'all', isEnabled: true, action: 'block', checks: ['response'], patterns: ['*'] } as const
  const guard: Gateway['guard'] = { isEnabled: true, rules: [rule] }
  await ai.change({ guard })
  await until(async () => (await ask(prompt, once('k'))).status === 422)
  assert.match(faultOf(await ask(prompt, once('k'))), /its response is not stored any more/)
  assert.equal(calls(), 2)
  assert.equal(statusOf(await ask()), 'MISS')
  assert.equal((await ask(prompt, once('k-2'))).status, 200)
  assert.equal(replayed(await ask(prompt, once('k-2'))), 'true')
})

test('calls that differ in a beta, in what they accept, in spaces or in a duplicate member are other calls', async t => {
  const { ai, ask } = await start(t)
  await ask()
  const native = (field: string) => {
    const fields = [`svc-aig-authorization: Bearer ${ai.token}`, 'anthropic-version: 2023-06-01', field]
    return ai.edge.ask(call(`${ai.native('anthropic')}/v1/messages`, prompt, ...fields))
  }
  for (const field of ['Accept: a/b', 'anthropic-beta: a', 'anthropic-beta: a,b', 'anthropic-beta: b,a'])
    assert.deepEqual([statusOf(await native(field)), statusOf(await native(field))], ['MISS', 'HIT'], field)
  for (const text of [
    ` ${prompt}`,
    prompt.replace('"Hi"', '"\\u0048i"'),
    prompt.replace('}]', ',"content":"Other"}]'),
    prompt.replace('{"model"', '{"stream":true,"stream":false,"model"'),
  ])
    assert.equal(statusOf(await ask(text)), 'MISS', text)
  assert.equal(statusOf(await ask()), 'HIT')
})

test('an Idempotency-Key that is huge, repeated or has control characters makes no call', async t => {
  const { ask, calls } = await start(t)
  assert.match(
    (await ask(prompt, once('k'.repeat(1024 * 1024)))).text,
    /Error 1038: HTTP headers exceed limit/,
  )
  for (const value of ['a\tb', 'a\x7f', 'a\x01', `a\r\n${once('a')}`, ' ']) {
    const { status } = await ask(prompt, once(value))
    assert.equal(status, 400, JSON.stringify(value))
  }
  assert.equal(calls(), 0)
})

test('a response of exactly the bound is kept, and one byte more is passed on alone', async t => {
  const max = 1024 * 1024
  const bodyOf = (size: number) => {
    const empty = JSON.stringify({ ...completion, system_fingerprint: '' }).length
    return json({ ...completion, system_fingerprint: 'x'.repeat(size - empty) })
  }
  for (const [size, isKept] of [
    [max, true],
    [max + 1, false],
  ] as const) {
    const { ask, calls, ai } = await start(t, {}, () => bodyOf(size))
    const first = await ask()
    assert.equal(first.body.length, size)
    if (isKept) await until(async () => (await ai.store.answers.total()).entries === 1)
    const again = await ask()
    assert.deepEqual([statusOf(again), again.body.length], [isKept ? 'HIT' : 'MISS', size])
    await ask(prompt, once('k'))
    await until(async () => (await ask(prompt, once('k'))).status === (isKept ? 200 : 422))
    assert.equal(calls(), isKept ? 2 : 3)
  }
})

test('a clock that is set back or forward gives no response for longer than its time says', async t => {
  const clock = new ManualClock()
  const { ask, calls } = await start(t, { ...patient, clock })
  await ask()
  clock.advance(3_599_000)
  assert.equal(statusOf(await ask()), 'HIT')
  clock.advance(10 * 365 * 86_400_000)
  assert.equal(statusOf(await ask()), 'MISS')
  assert.equal(calls(), 2)
})

for (const when of ['while a call runs', 'after a call'] as const)
  test(`a store that is emptied ${when} is not trusted to know which calls were made`, async t => {
    const server = await startRedis(t, { aof: 'always' })
    const { ai, ask, calls } = await start(t, { storeUrl: server.url, commandTimeout: 2_000 }, async n => {
      if (when === 'while a call runs') await server.ask('FLUSHALL')
      return json(numbered(n))
    })
    ai.store.trust.expect(await ai.store.adopt())
    assert.equal((await ask(prompt, once('k'))).status, 200)
    if (when === 'after a call') {
      assert.equal(replayed(await ask(prompt, once('k'))), 'true')
      await server.ask('FLUSHALL')
    }
    for (let i = 0; i < 3; i++) assert.notEqual((await ask(prompt, once('k'))).status, 200)
    assert.equal(calls(), 1)
  })
