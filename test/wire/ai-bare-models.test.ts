// Calls that name a model without its provider.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { type AiSettings, call, completion, json, startAi } from '../help/ai.ts'
import { startResponder } from '../help/origin.ts'

type ProviderSettings = Exclude<Parameters<typeof startAi>[1][string], string>

/** Starts an edge whose providers are all one server. */
async function start(
  t: TestContext,
  providers: Readonly<Record<string, ProviderSettings>>,
  settings: AiSettings = {},
) {
  const server = await startResponder(t, json(completion))
  const configured = Object.entries(providers).map(([name, given]) => [name, { url: server.url, ...given }])
  const ai = await startAi(t, Object.fromEntries(configured), settings)
  const ask = async (model: string, path = `${ai.rest}/v1/chat/completions`, token = ai.token) => {
    const field = path.endsWith('/compat/chat/completions') ? 'svc-aig-authorization' : 'Authorization'
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] })
    const fields = token === '' ? [] : [`${field}: Bearer ${token}`]
    const response = await ai.edge.ask(call(path, body, ...fields))
    return [response.startLine, ...response.lines, '', response.body.toString()].join('\n')
  }
  return { ai, server, ask }
}

const keyed = { keys: ['sk-ours'] }

test('the one usable provider of a model takes calls that name the model alone', async t => {
  const { ai, server, ask } = await start(t, { openai: keyed, mistral: {}, ollama: { models: ['llama*'] } })
  for (const path of [
    `${ai.rest}/v1/chat/completions`,
    '/v1/chat/completions',
    `/v1/${ai.account}/default/compat/chat/completions`,
  ]) {
    assert.match(
      await ask('gpt-5-mini', path),
      /^HTTP\/1\.1 200 .*svc-aig-provider: openai\nsvc-aig-model: gpt-5-mini\n/s,
    )
    assert.match(await ask('llama3.2:3b', path), /svc-aig-provider: ollama\nsvc-aig-model: llama3\.2:3b\n/)
  }
  assert.match(server.requests[0]!.body.toString(), /"model":"gpt-5-mini"/)
  const models = (await ai.logged(6)).map(({ provider, model }) => `${provider}/${model}`)
  assert.deepEqual(new Set(models), new Set(['openai/gpt-5-mini', 'ollama/llama3.2:3b']))
})

test('an alias comes before a model of the same name', async t => {
  const step = { model: 'ollama/small', weight: null, timeout: null, retries: 0 }
  const models = [{ name: 'gpt-5', steps: [step] }]
  const { ask } = await start(t, { openai: keyed, ollama: {} }, { ai: { models } })
  assert.match(await ask('gpt-5'), /svc-aig-provider: ollama\nsvc-aig-model: small\n/)
})

test('a model of several providers is refused with the names to choose from', async t => {
  const { ai, server, ask } = await start(t, { openai: keyed, 'custom-own': { models: ['gpt-*'] } })
  const refusal = await ask('gpt-5')
  assert.match(refusal, /^HTTP\/1\.1 400 /)
  assert.match(
    refusal,
    /Several providers have \\"gpt-5\\": name one of them with it, as in openai\/gpt-5 or custom-own\/gpt-5/,
  )
  await ai.change({ authentication: false })
  const unchecked = await ask('gpt-5', `${ai.rest}/v1/chat/completions`, '')
  assert.match(unchecked, /^HTTP\/1\.1 400 .*as in AUTHOR\/MODEL/s)
  assert.equal(server.requests.length, 0)
})

test('patterns of a provider replace what is known of it', async t => {
  const { ask } = await start(t, { openai: { ...keyed, models: [] }, 'custom-own': { models: ['gpt-5'] } })
  assert.match(await ask('gpt-5'), /svc-aig-provider: custom-own\n/)
  assert.match(await ask('gpt-5-mini'), /^HTTP\/1\.1 404 .*did you mean openai\/gpt-5-mini/s)
})

test('a provider without its key takes no calls by the model alone', async t => {
  const { ask } = await start(t, { openai: { url: null } })
  assert.match(await ask('gpt-5'), /^HTTP\/1\.1 404 .*Unknown model/s)
})
