// What callers of AI routes read when a provider cannot be called, or fails: its name, and what to change.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { ProviderConfig } from '../../src/config/config.ts'
import { type AiEdge, call, completion, json, startAi } from '../help/ai.ts'
import { startConnectProxy } from '../help/connect-proxy.ts'
import { deadOrigin, startResponder } from '../help/origin.ts'

const chat = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] })

/** Starts an edge whose calls to providers at their public addresses go no farther than a proxy. */
async function startAtProxy(t: TestContext, providers: Readonly<Record<string, Partial<ProviderConfig>>>) {
  const proxy = await startConnectProxy(t, { port: deadOrigin().port })
  const behind = Object.entries(providers).map(([name, facts]) => [name, { proxy: proxy.config, ...facts }])
  return { ai: await startAi(t, Object.fromEntries(behind)), proxy }
}

const rest = (ai: AiEdge, model: string, ...fields: string[]) =>
  ai.edge.ask(
    call(`${ai.rest}/v1/chat/completions`, chat(model), `Authorization: Bearer ${ai.token}`, ...fields),
  )

const native = (ai: AiEdge, provider: string, ...fields: string[]) =>
  ai.edge.ask(
    call(
      `${ai.native(provider)}/chat/completions`,
      chat('gpt-4o-mini'),
      `svc-aig-authorization: Bearer ${ai.token}`,
      ...fields,
    ),
  )

test('a call for a provider without a key is refused by the name of the setting, and of its variable', async t => {
  const { ai, proxy } = await startAtProxy(t, {
    openai: { keyVariables: ['OPENAI_API_KEY'] },
    mistral: {},
  })
  const told = {
    openai:
      'The gateway has no key for openai: set ai.providers.openai.keys (OPENAI_API_KEY) in its configuration',
    mistral: 'The gateway has no key for mistral: set ai.providers.mistral.keys in its configuration',
    // It stands in no file.
    groq: 'The gateway has no key for groq: set ai.providers.groq.keys in its configuration',
  }
  const more = ', or, on provider-native and unified routes, send a key of your own'
  for (const [provider, text] of Object.entries(told)) {
    const compat = call(
      `${ai.native('compat')}/chat/completions`,
      chat(`${provider}/a`),
      `svc-aig-authorization: Bearer ${ai.token}`,
    )
    for (const answer of [
      await rest(ai, `${provider}/a`),
      await rest(ai, `${provider}/a`, 'x-api-key: sk-of-the-caller'),
      await native(ai, provider),
      await ai.edge.ask(compat),
    ]) {
      assert.deepEqual([answer.status, answer.field('x-should-retry')], [404, 'false'])
      const { errors, message, error } = JSON.parse(answer.text)
      assert.deepEqual([errors[0].code, message, error.message], [7003, text + more, text + more])
    }
  }
  assert.deepEqual(proxy.asked, [])
})

test('a call goes on to a provider without a key if it brings one, or may need none', async t => {
  const { ai, proxy } = await startAtProxy(t, { openai: {}, mistral: { keys: ['own'] } })
  const mine = `svc-aig-authorization: Bearer ${ai.token}`
  const list = `GET ${ai.native('openai')}/models HTTP/1.1\r\nHost: ai.test\r\n${mine}\r\n\r\n`
  for (const answer of [
    await native(ai, 'openai', 'Authorization: Bearer sk-of-the-caller'),
    await ai.edge.ask(list),
    await native(ai, 'mistral'),
  ])
    assert.notEqual(answer.status, 404)
  assert.ok(proxy.asked.length >= 3, `${proxy.asked.length}`)
  const provider = await startResponder(t, json(completion))
  const plain = await startAi(t, { openai: provider.url, 'custom-lab': provider.url })
  for (const name of ['openai', 'custom-lab']) assert.equal((await rest(plain, `${name}/a`)).status, 200)
})
