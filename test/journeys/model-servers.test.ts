// The recipes of docs/providers.md for servers of models that people run themselves, before stand-ins with the routes of those.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { startGateway } from '../help/gateway.ts'
import * as servers from '../help/model-server.ts'

const recipes = [
  { heading: 'Ollama', provider: 'ollama', kind: servers.ollama, model: 'llama3.2:1b' },
  { heading: 'vLLM', provider: 'custom-vllm', kind: servers.vllm, model: 'Qwen/Qwen3-8B' },
  { heading: 'llama.cpp', provider: 'custom-llama', kind: servers.llamaCpp, model: 'qwen3-8b.gguf' },
  { heading: 'LM Studio', provider: 'custom-lmstudio', kind: servers.lmStudio, model: 'qwen/qwen3-8b' },
] as const

type Recipe = (typeof recipes)[number]

interface ModelList {
  readonly data: readonly { readonly id: string }[]
}

/** Starts two servers of that kind, and a gateway by the recipe for the first; `turn` has it go to the other, with this behind the host of its URL. */
async function follow(t: TestContext, { heading, provider, kind }: Recipe) {
  const [server, other] = [await servers.startModels(t, kind), await servers.startModels(t, kind)]
  const [block] = blocksOf(section(readPage('docs/providers.md'), heading))
  const yaml = (url: string) => block!.text.replace(/http:\/\/127\.0\.0\.1:\d+/, url)
  const gateway = await startGateway(t, yaml(server.url), { env: { VLLM_API_KEY: 'sk-vllm' } })
  const { account, token } = await gateway.firstStart
  const native = `${gateway.edge}/v1/${account}/default/${provider}`
  const turn = async (end: string) => {
    gateway.rewrite(yaml(`${other.url}${end}`))
    await gateway.logged('configuration reloaded')
    return other
  }
  return { server, turn, token, edge: gateway.edge, native }
}

const messages = [{ role: 'user' as const, content: 'Hello.' }]
const { farewell } = servers

for (const recipe of recipes)
  test(`${recipe.heading}, with a URL that ends in the host, and in /v1/`, async t => {
    const { server: first, turn, token, edge, native } = await follow(t, recipe)
    for (const end of ['', '/v1/']) {
      const server = end === '' ? first : await turn(end)
      const model = `${recipe.provider}/${recipe.model}`
      const openai = new OpenAI({ baseURL: `${edge}/v1`, apiKey: token, maxRetries: 0 })
      const anthropic = new Anthropic({ baseURL: edge, authToken: token, apiKey: null, maxRetries: 0 })

      const { choices } = await openai.chat.completions.create({ model, messages })
      assert.equal(choices[0]!.message.content, farewell)
      const chunks = await openai.chat.completions.create({ model, messages, stream: true })
      const pieces = await Array.fromAsync(chunks, ({ choices }) => choices[0]?.delta.content ?? '')
      assert.equal(pieces.join(''), farewell)
      assert.equal((await openai.responses.create({ model, input: 'Hello.' })).output_text, farewell)
      const events = await Array.fromAsync(
        await openai.responses.create({ model, input: 'Hi', stream: true }),
      )
      assert.equal(events.at(-1)!.type, 'response.completed')
      const message = await anthropic.messages.create({ model, max_tokens: 9, messages })
      assert.deepEqual(message.content, [{ type: 'text', text: farewell }])
      assert.equal(await anthropic.messages.stream({ model, max_tokens: 9, messages }).finalText(), farewell)
      const { data } = await openai.embeddings.create({ model, input: ['a', 'b'] })
      assert.equal(data.length, 2)

      const headers = { 'svc-aig-authorization': `Bearer ${token}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ model: recipe.model, messages })
      for (const path of ['/chat/completions', '/v1/chat/completions', '/v1/v1/chat/completions']) {
        const response = await fetch(native + path, { method: 'POST', headers, body })
        assert.equal(response.status, 200, path)
      }
      const list = (await (await fetch(`${native}/v1/models`, { headers })).json()) as ModelList
      assert.equal(list.data[0]!.id, recipe.model)
      assert.deepEqual(server.refused, [])
      assert.ok(server.asked.length > 0)
      for (const { path } of server.asked) assert.match(path, /^\/v1\/(?!v1)/)
      for (const { headers, body } of server.asked) {
        if (body.model !== undefined) assert.equal(body.model, recipe.model)
        assert.equal(headers.authorization, recipe.provider === 'custom-vllm' ? 'Bearer sk-vllm' : undefined)
      }

      const unknown = await fetch(`${native}/v1/nothing`, { headers })
      assert.equal(unknown.status, recipe.provider === 'custom-lmstudio' ? 200 : 404)
      assert.match(await unknown.text(), refusals[recipe.provider])
    }
  })

/** In the words of each server. */
const refusals: Readonly<Record<Recipe['provider'], RegExp>> = {
  ollama: /^404 page not found$/,
  'custom-vllm': /^\{"error":\{"message":"Not Found","type":"Not Found","param":null,"code":404\}\}$/,
  'custom-llama': /^\{"error":\{"code":404,"message":"File Not Found","type":"not_found_error"\}\}$/,
  'custom-lmstudio': /^\{"error":"Unexpected endpoint or method\. \(GET \/v1\/nothing\)"\}$/,
}
