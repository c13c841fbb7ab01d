// The published SDKs as callers of the gateway, with nothing but their base URL and credential changed: what sdk-matrix.test.ts asks through.

import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import Anthropic from '@anthropic-ai/sdk'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { GoogleGenAI } from '@google/genai'
import { type AIMessageChunk, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { ChatOpenAI } from '@langchain/openai'
import { Mistral } from '@mistralai/mistralai'
import { generateText, jsonSchema, type LanguageModel, stepCountIs, streamText, tool } from 'ai'
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
  readonly speaks: 'chat' | 'messages' | 'gemini' | 'responses'
  /** Asks once; resolves with the text of the answer. */
  ask(door: Door): Promise<string>
  /** Reads a stream to its end; null where this SDK reads none here. */
  readonly stream: ((door: Door) => Promise<string>) | null
  /** Asks a model with the tool `weather`, runs it, and resolves with the text of the last answer; null where this SDK has no route that translates. */
  readonly tools: ((door: Door, model: string, isStreamed: boolean) => Promise<string>) | null
}

const prompt = 'Say hello.'
const messages = [{ role: 'user' as const, content: prompt }]
const chatModel = 'openai/gpt-4o-mini'
const messagesModel = 'anthropic/claude-sonnet-5-5'

const native = ({ url, account }: Door, provider: string) => `${url}/v1/${account}/default/${provider}`
const gatewayField = ({ token }: Door) => ({ 'svc-aig-authorization': `Bearer ${token}` })

/** The tool, and what it returns. */
const weather = {
  name: 'weather',
  description: 'Tells the weather.',
  parameters: {
    type: 'object' as const,
    properties: { city: { type: 'string' as const } },
    required: ['city'],
  },
  run: ({ city }: { readonly city: string }) => `sunny in ${city}`,
}

const openai = (door: Door) => new OpenAI({ baseURL: `${door.url}/v1`, apiKey: door.token })
const anthropic = (door: Door) => new Anthropic({ baseURL: door.url, authToken: door.token, apiKey: null })
const groq = (door: Door) =>
  new Groq({ baseURL: native(door, 'groq'), apiKey: 'gsk-own', defaultHeaders: gatewayField(door) })
const genai = (door: Door) =>
  new GoogleGenAI({
    apiKey: 'own',
    httpOptions: { baseUrl: native(door, 'google-ai-studio'), headers: gatewayField(door) },
  })
const mistral = (door: Door) => new Mistral({ serverURL: native(door, 'mistral'), apiKey: 'own' })
const langchain = (door: Door, model = chatModel) =>
  new ChatOpenAI({
    model,
    apiKey: door.token,
    configuration: { baseURL: `${door.url}/v1`, fetch: (...request) => fetch(...request) },
  })

/** The Vercel AI SDK with one of its providers. */
function vercel(
  sdk: string,
  speaks: 'chat' | 'messages' | 'responses',
  route: string,
  modelOf: (door: Door, model: string) => LanguageModel,
): Caller {
  const usual = { chat: chatModel, messages: messagesModel, responses: chatModel }
  const model = (door: Door) => modelOf(door, usual[speaks])
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
    tools: async (door, model, isStreamed) => {
      const inputSchema = jsonSchema<{ city: string }>(weather.parameters)
      const tools = {
        weather: tool({ description: weather.description, inputSchema, execute: weather.run }),
      }
      // Otherwise its Responses refer to items that OpenAI would have stored.
      const providerOptions = { openai: { store: false } }
      const request = {
        model: modelOf(door, model),
        prompt,
        tools,
        providerOptions,
        stopWhen: stepCountIs(3),
      }
      return isStreamed ? await streamText(request).text : (await generateText(request)).text
    },
  }
}

export const callers: readonly Caller[] = [
  {
    name: 'openai',
    sdk: 'openai',
    route: 'short',
    speaks: 'chat',
    ask: async door =>
      (await openai(door).chat.completions.create({ model: chatModel, messages })).choices[0]!.message
        .content!,
    stream: async door => {
      const stream = await openai(door).chat.completions.create({ model: chatModel, messages, stream: true })
      return (await Array.fromAsync(stream, ({ choices }) => choices[0]?.delta.content ?? '')).join('')
    },
    tools: async (door, model, isStreamed) => {
      const { name, description, parameters, run } = weather
      const called = { name, description, parameters, function: run, parse: JSON.parse }
      const request = {
        model,
        messages,
        tools: [{ type: 'function' as const, function: called }],
      }
      const { completions } = openai(door).chat
      const runner = isStreamed
        ? completions.runTools({ ...request, stream: true })
        : completions.runTools(request)
      return (await runner.finalContent())!
    },
  },
  {
    name: 'openai, Responses',
    sdk: 'openai',
    route: 'short',
    speaks: 'responses',
    ask: async door => (await openai(door).responses.create({ model: chatModel, input: prompt })).output_text,
    stream: async door => {
      const stream = await openai(door).responses.create({ model: chatModel, input: prompt, stream: true })
      const pieces = await Array.fromAsync(stream, event =>
        event.type === 'response.output_text.delta' ? event.delta : '',
      )
      return pieces.join('')
    },
    tools: async (door, model, isStreamed) => {
      const { name, description, parameters, run } = weather
      const { responses } = openai(door)
      const request = {
        model,
        tools: [{ type: 'function' as const, name, description, parameters, strict: false }],
      }
      const ask = (input: OpenAI.Responses.ResponseInput) =>
        isStreamed
          ? responses.stream({ ...request, input }).finalResponse()
          : responses.create({ ...request, input })
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: prompt }]
      const { output } = await ask(input)
      const results = output
        .flatMap(item => (item.type === 'function_call' ? [item] : []))
        .map(({ call_id, arguments: json }) => ({
          type: 'function_call_output' as const,
          call_id,
          output: run(JSON.parse(json)),
        }))
      return (await ask([...input, ...output, ...results] as typeof input)).output_text
    },
  },
  {
    name: 'anthropic',
    sdk: '@anthropic-ai/sdk',
    route: 'short',
    speaks: 'messages',
    ask: async door => {
      const answer = await anthropic(door).messages.create({ model: messagesModel, max_tokens: 64, messages })
      return answer.content.map(block => (block.type === 'text' ? block.text : '')).join('')
    },
    stream: door =>
      anthropic(door).messages.stream({ model: messagesModel, max_tokens: 64, messages }).finalText(),
    tools: async (door, model, isStreamed) => {
      const { name, description, parameters: inputSchema, run } = weather
      const runAny = (args: unknown) => run(args as { city: string })
      const tools = [betaTool({ name, description, inputSchema, run: runAny })]
      const request = {
        model,
        max_tokens: 64,
        messages,
        tools,
        stream: isStreamed,
        thread: false as const,
      }
      const { content } = await anthropic(door).beta.messages.toolRunner(request).runUntilDone()
      return content.map(block => (block.type === 'text' ? block.text : '')).join('')
    },
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
    tools: null,
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
    tools: null,
  },
  vercel('@ai-sdk/openai', 'chat', 'short', (door, model) =>
    createOpenAI({ baseURL: `${door.url}/v1`, apiKey: door.token }).chat(model),
  ),
  {
    ...vercel('@ai-sdk/openai', 'responses', 'short', (door, model) =>
      createOpenAI({ baseURL: `${door.url}/v1`, apiKey: door.token }).responses(model),
    ),
    name: 'ai, @ai-sdk/openai, Responses',
  },
  vercel('@ai-sdk/anthropic', 'messages', 'short', (door, model) =>
    createAnthropic({ baseURL: `${door.url}/v1`, authToken: door.token })(model),
  ),
  vercel('@ai-sdk/openai-compatible', 'chat', 'short', (door, model) =>
    createOpenAICompatible({ name: 'gatehouse', baseURL: `${door.url}/v1`, apiKey: door.token })(model),
  ),
  {
    name: 'langchain',
    sdk: '@langchain/openai',
    route: 'short',
    speaks: 'chat',
    ask: async door => (await langchain(door).invoke(prompt)).text,
    stream: async door => {
      const pieces = await Array.fromAsync(await langchain(door).stream(prompt), ({ text }) => text)
      return pieces.join('')
    },
    tools: async (door, model, isStreamed) => {
      const { name, description, parameters, run } = weather
      const bound = langchain(door, model).bindTools([
        { type: 'function', function: { name, description, parameters } },
      ])
      const ask = async (turns: (HumanMessage | AIMessageChunk | ToolMessage)[]): Promise<AIMessageChunk> =>
        isStreamed
          ? (await Array.fromAsync(await bound.stream(turns))).reduce((all, piece) => all.concat(piece))
          : bound.invoke(turns)
      const first = await ask([new HumanMessage(prompt)])
      const [call] = first.tool_calls!
      const result = new ToolMessage({
        tool_call_id: call!.id!,
        content: run(call!.args as { city: string }),
      })
      return (await ask([new HumanMessage(prompt), first, result])).text
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
    tools: null,
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
    tools: null,
  },
]
