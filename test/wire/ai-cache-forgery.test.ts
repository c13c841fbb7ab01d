// No caller gets the response to a call of another one, whatever it writes.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'

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
