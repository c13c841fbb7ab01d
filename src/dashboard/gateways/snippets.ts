// Code that calls an AI gateway, with its address in place. The token comes from the environment.

import type { GatewayEndpoint } from '../page/gateway-endpoint.ts'

interface Snippet {
  readonly title: string
  readonly code: string
}

interface Place {
  readonly account: string
  readonly gateway: string
}

/** Returns the code for a gateway: its own address first by curl, then by SDKs. */
export function snippetsFor(
  { account, gateway }: Place,
  { origin, provider }: GatewayEndpoint,
): readonly Snippet[] {
  const rest = `${origin}/client/v4/accounts/${account}/ai/v1`
  const native = `${origin}/v1/${account}/${gateway}/${provider.name}`
  const model = `${provider.name}/${provider.model}`
  return [
    { title: 'REST, with curl', code: curlRest(rest, gateway, model) },
    { title: 'The provider’s API, with curl', code: curlNative(native, provider) },
    { title: 'Node, with openai', code: node(rest, gateway, model) },
    { title: 'Python, with openai', code: python(rest, gateway, model) },
  ]
}

/** Returns the shell line that the curl code builds on. */
export function tokenLine(value: string): string {
  return `export TOKEN=${value}`
}

function curlRest(rest: string, gateway: string, model: string): string {
  return `curl -i ${rest}/chat/completions \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'svc-aig-gateway-id: ${gateway}' \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`
}

function curlNative(native: string, { model, path, speaks }: GatewayEndpoint['provider']): string {
  const maxTokens = speaks === 'anthropic' ? '"max_tokens":64,' : ''
  return `curl -i ${native}${path} \\
  -H "svc-aig-authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"model":"${model}",${maxTokens}"messages":[{"role":"user","content":"Hello"}]}'`
}

function node(rest: string, gateway: string, model: string): string {
  return `import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${rest}',
  apiKey: process.env.TOKEN,
  defaultHeaders: { 'svc-aig-gateway-id': '${gateway}' },
})
const chat = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(chat.choices[0].message.content)`
}

function python(rest: string, gateway: string, model: string): string {
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url='${rest}',
    api_key=os.environ['TOKEN'],
    default_headers={'svc-aig-gateway-id': '${gateway}'},
)
chat = client.chat.completions.create(
    model='${model}',
    messages=[{'role': 'user', 'content': 'Hello'}],
)
print(chat.choices[0].message.content)`
}
