// No caller gets the response to a call of another one, whatever it writes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import type { Token } from '../../src/store/records/records.ts'
import { startResponder } from '../help/origin.ts'
import { thorough } from '../help/thorough.ts'

/** Keys that are made up. */
const count = thorough(10_000, 500)
const prompt = JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })

test('64 callers of two accounts with equal calls at once get nothing of each other', async t => {
  let calls = 0
  const provider = await startResponder(t, () => json({ ...completion, id: `c-${calls++}` }))
  const { edge, store, account, mint } = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk'] } },
    { gateway: { cacheTtl: 60 } },
  ).then(ai => ({
    ...{ edge: ai.edge, store: ai.store, account: ai.account },
    mint: ai.mint.bind(ai),
  }))
  const other = randomBytes(16).toString('hex')
  const { record } = (await store.gateways.get(account, 'default'))!
  await store.accounts.insert({ id: other, name: 'other', createdAt: 0 })
  await store.gateways.insert({ ...record, account: other })
  const { items } = await store.tokens.list(account, { offset: 0, limit: 1 })
  const policies = items[0]!.policies.map(policy => ({ ...policy, accounts: [other] }))
  const callers: [account: string, token: string][] = []
  for (let i = 0; i < 32; i++)
    callers.push([account, await mint()], [other, await mint({ account: other, policies })])
  for (const field of ['svc-aig-cache-key: same', 'svc-aig-cache-ttl: 60']) {
    const ask = async ([own, token]: [string, string]) => {
      const path = `/client/v4/accounts/${own}/ai/v1/chat/completions`
      const response = await edge.ask(call(path, prompt, `Authorization: Bearer ${token}`, field))
      assert.equal(response.status, 200, response.text)
      return response.text
    }
    const texts = await Promise.all(callers.map(ask))
    assert.equal(new Set(texts).size, 64)
    assert.deepEqual(await Promise.all(callers.map(ask)), texts)
  }
  assert.equal(calls, 128)
})

test(`${count} forged keys of another token of the account get nothing of what the first one stored`, async t => {
  let calls = 0
  const victims = 64
  const provider = await startResponder(t, () => json({ ...completion, id: `c-${calls++}` }))
  const ai = await startAi(
    t,
    { openai: { url: provider.url, keys: ['sk'] } },
    { gateway: { cacheTtl: 3600, cacheScope: 'shared' } },
  )
  // Those that are shared differ in their bodies from all that the other one sends.
  const keys = Array.from({ length: victims }, (_, i) => `key-${i}`)
  const places: string[] = []
  const { write } = ai.store.answers
  t.mock.method(ai.store.answers, 'write', (...args: Parameters<typeof write>) => {
    places.push(args[0].key)
    return write.apply(ai.store.answers, args)
  })
  for (const key of keys) await ask(ai, ai.token, prompt, `svc-aig-cache-key: ${key}`)
  for (const key of keys) await ask(ai, ai.token, promptOf(key))
  assert.equal(calls, 2 * victims)
  assert.equal(places.length, 2 * victims)
  const [{ id }] = (await ai.store.tokens.list(ai.account, { offset: 0, limit: 1 })).items as unknown as [
    Token,
  ]
  const stranger = await ai.mint()
  const forged = fc.sample(forgedKeys([...keys, ...places], [id, ai.account, 'default']), count)
  const forgers = Array.from({ length: 32 }, async (_, at) => {
    const wire = await ai.edge.connect()
    for (let i = at; i < forged.length; i += 32) {
      const text = i % 3 === 0 ? prompt : promptOf(String(i))
      await wire.send(callOf(ai, stranger, text, `svc-aig-cache-key: ${forged[i]!}`))
      const { status, text: json } = await wire.response('POST')
      assert.equal(status, 200)
      assert.ok(Number(JSON.parse(json).id.slice(2)) >= 2 * victims, forged[i]!)
    }
  })
  await Promise.all(forgers)
  // The first one still has its own.
  for (const [i, key] of keys.entries()) {
    const own = await ask(ai, ai.token, prompt, `svc-aig-cache-key: ${key}`)
    assert.equal(JSON.parse(own.text).id, `c-${i}`)
  }
})

const promptOf = (content: string) =>
  JSON.stringify({ model: 'openai/gpt-4o', messages: [{ role: 'user', content }] })

/** Keys as they are, and within what might be the text that is hashed. */
function forgedKeys(keys: readonly string[], about: readonly string[]): fc.Arbitrary<string> {
  const key = fc.constantFrom(...keys)
  const part = fc.oneof(
    ...[key, fc.constantFrom(...about), fc.constantFrom(';', ':', '~', '43:', 'token', 'shared', '0', '1')],
    fc.string({
      unit: fc.integer({ min: 33, max: 126 }).map(code => String.fromCharCode(code)),
      maxLength: 9,
    }),
  )
  const parts = fc.array(part, { minLength: 1, maxLength: 6 }).map(parts => parts.join('').slice(0, 256))
  return fc.oneof(key, parts).filter(text => text !== '')
}

function callOf({ rest }: AiEdge, token: string, text: string, ...fields: string[]) {
  return call(`${rest}/v1/chat/completions`, text, `Authorization: Bearer ${token}`, ...fields)
}

function ask(ai: AiEdge, token: string, text: string, ...fields: string[]) {
  return ai.edge.ask(callOf(ai, token, text, ...fields))
}
