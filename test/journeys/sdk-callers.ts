// The published SDKs as callers of the gateway, with nothing but their base URL and credential changed: what sdk-matrix.test.ts asks through.

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { ChatOpenAI } from '@langchain/openai'
import { Mistral } from '@mistralai/mistralai'
import { generateText, type LanguageModel, streamText } from 'ai'
import Cloudflare from 'cloudflare'
import Groq from 'groq-sdk'
import OpenAI from 'openai'

/** Where an SDK finds the gateway, and who it is. */
export interface Door {
  /** Of the edge, without a slash at the end. */
  readonly url: string
  readonly account: string
  readonly token: string
}

export interface Caller {
  readonly name: string
  /** The package whose version counts. */
  readonly sdk: string
  readonly route: string
  /** What the provider behind its call speaks. */
  readonly speaks: 'chat' | 'messages' | 'gemini'
  /** Asks once; resolves with the text of the answer. */
  ask(door: Door): Promise<string>
  /** Reads a stream to its end; null where this SDK reads none here. */
  readonly stream: ((door: Door) => Promise<string>) | null
}

const prompt = 'Say hello.'
const messages = [{ role: 'user' as const, content: prompt }]
const chatModel = 'openai/gpt-4o-mini'
const messagesModel = 'anthropic/claude-sonnet-5-5'

const rest = ({ url, account }: Door) => `${url}/client/v4/accounts/${account}/ai`
const native = ({ url, account }: Door, provider: string) => `${url}/v1/${account}/default/${provider}`
const gatewayField = ({ token }: Door) => ({ 'svc-aig-authorization': `Bearer ${token}` })

const openai = (door: Door) => new OpenAI({ baseURL: `${rest(door)}/v1`, apiKey: door.token })
const anthropic = (door: Door) => new Anthropic({ baseURL: rest(door), authToken: door.token, apiKey: null })
const groq = (door: Door) =>
  new Groq({ baseURL: native(door, 'groq'), apiKey: 'gsk-own', defaultHeaders: gatewayField(door) })
const genai = (door: Door) =>
  new GoogleGenAI({
    apiKey: 'own',
    httpOptions: { baseUrl: native(door, 'google-ai-studio'), headers: gatewayField(door) },
  })
const mistral = (door: Door) => new Mistral({ serverURL: native(door, 'mistral'), apiKey: 'own' })
const langchain = (door: Door) =>
  new ChatOpenAI({
    model: chatModel,
    apiKey: door.token,
    configuration: { baseURL: `${rest(door)}/v1`, fetch: (...request) => fetch(...request) },
  })

/** The Vercel AI SDK with one of its providers. */
function vercel(
  sdk: string,
  speaks: Caller['speaks'],
  route: string,
  model: (door: Door) => LanguageModel,
): Caller {
  return {
    name: `ai, ${sdk}`,
    sdk,
    route,
    speaks,
    ask: async door => (await generateText({ model: model(door), prompt })).text,
    stream: async door => {
      let failure: unknown
      const { textStream } = streamText({
        model: model(door),
        prompt,
        onError: ({ error }) => {
          failure ??= error
        },
      })
      const text = await Array.fromAsync(textStream).catch((cut: unknown) => {
        throw failure ?? cut
      })
      if (failure !== undefined) throw failure
      return text.join('')
    },
  }
}

export const callers: readonly Caller[] = [
  {
    name: 'openai',
    sdk: 'openai',
    route: 'REST',
    speaks: 'chat',
    ask: async door =>
      (await openai(door).chat.completions.create({ model: chatModel, messages })).choices[0]!.message
        .content!,
    stream: async door => {
      const stream = await openai(door).chat.completions.create({ model: chatModel, messages, stream: true })
      return (await Array.fromAsync(stream, ({ choices }) => choices[0]?.delta.content ?? '')).join('')
    },
  },
  {
    name: 'anthropic',
    sdk: '@anthropic-ai/sdk',
    route: 'REST',
    speaks: 'messages',
    ask: async door => {
      const answer = await anthropic(door).messages.create({ model: messagesModel, max_tokens: 64, messages })
      return answer.content.map(block => (block.type === 'text' ? block.text : '')).join('')
    },
    stream: door =>
      anthropic(door).messages.stream({ model: messagesModel, max_tokens: 64, messages }).finalText(),
  },
  {
    name: 'cloudflare',
    sdk: 'cloudflare',
    route: 'REST, `/ai/run`',
    speaks: 'chat',
    ask: async ({ url, account, token }) => {
      const client = new Cloudflare({ baseURL: `${url}/client/v4`, apiToken: token })
      const answer = await client.ai.run(chatModel, { account_id: account, messages })
      return (answer as unknown as OpenAI.Chat.ChatCompletion).choices[0]!.message.content!
    },
    stream: null,
  },
  {
    name: 'groq',
    sdk: 'groq-sdk',
    route: 'native',
    speaks: 'chat',
    ask: async door =>
      (await groq(door).chat.completions.create({ model: 'llama', messages })).choices[0]!.message.content!,
    stream: async door => {
      const stream = await groq(door).chat.completions.create({ model: 'llama', messages, stream: true })
      return (await Array.fromAsync(stream, ({ choices }) => choices[0]?.delta.content ?? '')).join('')
    },
  },
  vercel('@ai-sdk/openai', 'chat', 'REST', door =>
    createOpenAI({ baseURL: `${rest(door)}/v1`, apiKey: door.token }).chat(chatModel),
  ),
  vercel('@ai-sdk/anthropic', 'messages', 'REST', door =>
    createAnthropic({ baseURL: `${rest(door)}/v1`, authToken: door.token })(messagesModel),
  ),
  vercel('@ai-sdk/openai-compatible', 'chat', 'REST', door =>
    createOpenAICompatible({ name: 'gatehouse', baseURL: `${rest(door)}/v1`, apiKey: door.token })(chatModel),
  ),
  {
    name: 'langchain',
    sdk: '@langchain/openai',
    route: 'REST',
    speaks: 'chat',
    ask: async door => (await langchain(door).invoke(prompt)).text,
    stream: async door => {
      const pieces = await Array.fromAsync(await langchain(door).stream(prompt), ({ text }) => text)
      return pieces.join('')
    },
  },
  {
    name: 'genai',
    sdk: '@google/genai',
    route: 'native',
    speaks: 'gemini',
    ask: async door =>
      (await genai(door).models.generateContent({ model: 'gemini-2.5-flash', contents: prompt })).text!,
    stream: async door => {
      const stream = await genai(door).models.generateContentStream({
        model: 'gemini-2.5-flash',
        contents: prompt,
      })
      return (await Array.fromAsync(stream, ({ text }) => text ?? '')).join('')
    },
  },
  {
    name: 'mistral',
    sdk: '@mistralai/mistralai',
    route: 'native',
    speaks: 'chat',
    ask: async door => {
      const fetchOptions = { headers: gatewayField(door) }
      const answer = await mistral(door).chat.complete({ model: 'mistral-small', messages }, { fetchOptions })
      return answer.choices[0]!.message!.content as string
    },
    stream: async door => {
      const fetchOptions = { headers: gatewayField(door) }
      const stream = await mistral(door).chat.stream({ model: 'mistral-small', messages }, { fetchOptions })
      return (await Array.fromAsync(stream, ({ data }) => data.choices[0]?.delta.content ?? '')).join('')
    },
  },
]
