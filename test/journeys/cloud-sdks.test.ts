// The SDKs of clouds against the gateway, which makes their keys: with nothing but its address and a token of it.

import { deepEqual, equal, match } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AnthropicVertex } from '@anthropic-ai/vertex-sdk'
import { GoogleGenAI } from '@google/genai'
import { PassThroughClient } from 'google-auth-library'
import { AzureOpenAI } from 'openai'
import type { CloudIdentity } from '../../src/config/model/cloud-config.ts'
import type { ProviderConfig } from '../../src/config/model/config.ts'
import { completion, startAi } from '../help/ai.ts'
import { type Reply, say, startProvider, stream } from '../help/provider.ts'
import { grant, startTokenServer } from '../help/token-server.ts'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-haiku-4-5-20251001',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 3 },
}

/** Starts a cloud whose keys are made by Entra, whichever it is: SDKs never see them. */
async function start(t: TestContext, name: string, config: Partial<ProviderConfig>, reply: Reply) {
  const tokens = await startTokenServer(t, (_, response) => grant(response, 'made-key'))
  const provider = await startProvider(t, reply)
  const identity: CloudIdentity = {
    by: 'entra',
    authority: tokens.url,
    tenant: 'acme.example',
    clientId: '99999999-8888-7777-6666-555555555555',
    proof: { secret: 's' },
    scope: 'https://cognitiveservices.azure.com/.default',
  }
  const tls = { verify: true, serverName: null, ca: tokens.ca, identity: null }
  const ai = await startAi(t, { [name]: { url: provider.url, identity, tls, ...config } })
  const url = `http://127.0.0.1:${ai.edge.port}${ai.native(name)}`
  return { ai, provider, url, headers: { 'svc-aig-authorization': `Bearer ${ai.token}` } }
}

const vertex = { resources: ['global'], project: 'acme' }
const ask = {
  model: 'claude-haiku-4-5@20251001',
  max_tokens: 9,
  messages: [{ role: 'user' as const, content: 'Hi' }],
}

test('AzureOpenAI calls a deployment', async t => {
  const { provider, url, headers } = await start(t, 'azure-openai', { resources: ['team'] }, (_, response) =>
    say(response, completion),
  )
  const client = new AzureOpenAI({
    endpoint: `${url}/team`,
    apiVersion: '2024-10-21',
    // The SDK demands one; the gateway sends its own in place of it where none arrives.
    apiKey: 'unused',
    defaultHeaders: { ...headers, 'api-key': null },
    maxRetries: 0,
  })
  const response = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hi' }],
  })
  equal(response.choices[0]!.message.content, 'Hello.')
  const [asked] = provider.asked
  equal(asked!.path, '/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21')
  equal(asked!.headers.authorization, 'Bearer made-key')
})

test('AnthropicVertex gets messages and streams', async t => {
  const { provider, url, headers, ai } = await start(t, 'google-vertex-ai', vertex, ({ path }, response) => {
    if (!path.includes('streamRawPredict')) return say(response, message)
    const send = stream(response)
    send({ type: 'message_start', message: { ...message, content: [] } }, 'message_start')
    send(
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      'content_block_start',
    )
    send(
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
      'content_block_delta',
    )
    send({ type: 'content_block_stop', index: 0 }, 'content_block_stop')
    send(
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
      'message_delta',
    )
    send({ type: 'message_stop' }, 'message_stop')
    response.end()
  })
  const client = new AnthropicVertex({
    baseURL: `${url}/v1`,
    region: 'global',
    projectId: 'acme',
    authClient: new PassThroughClient() as never,
    defaultHeaders: headers,
    maxRetries: 0,
  })
  deepEqual((await client.messages.create(ask)).content, message.content)
  const streamed = await client.messages.stream(ask).finalText()
  equal(streamed, 'Hello.')
  match(
    provider.asked[0]!.path,
    /^\/v1\/projects\/acme\/locations\/global\/publishers\/anthropic\/models\/claude-haiku-4-5@20251001:rawPredict/,
  )
  equal(provider.asked[1]!.headers.authorization, 'Bearer made-key')
  const [latest] = await ai.logged(2)
  deepEqual([latest!.model, latest!.tokensIn, latest!.tokensOut], ['claude-haiku-4-5@20251001', 9, 3])
})

test('GoogleGenAI generates content', async t => {
  const { provider, url, headers } = await start(t, 'google-vertex-ai', vertex, (_, response) =>
    say(response, { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello.' }] } }] }),
  )
  const client = new GoogleGenAI({
    vertexai: true,
    project: 'acme',
    location: 'global',
    googleAuthOptions: { authClient: new PassThroughClient() as never },
    httpOptions: { baseUrl: url, headers },
  })
  const { text } = await client.models.generateContent({ model: 'gemini-2.5-flash', contents: 'Hi' })
  equal(text, 'Hello.')
  const [asked] = provider.asked
  equal(
    asked!.path,
    '/v1beta1/projects/acme/locations/global/publishers/google/models/gemini-2.5-flash:generateContent',
  )
  equal(asked!.headers.authorization, 'Bearer made-key')
})
