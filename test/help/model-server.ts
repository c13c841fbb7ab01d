// Servers of models on loopback, for tests: each has the routes that it is given, is as strict as the APIs that it has, and refuses everything else. A
// model of theirs runs a shell command when it is offered a tool for that, and ends when it has its result.

import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { say, stream } from './provider.ts'

/** What a model has its caller run, and what it says in the end. */
export const command = 'echo hello > made.txt'
export const farewell = 'All done.'

export interface ModelRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Members
}

type Members = Readonly<Record<string, unknown>>
export type Answer = (request: ModelRequest, response: ServerResponse) => void

/** What a server is: its routes, as METHOD PATH, and its words for a request that it refuses. */
export interface Kind {
  readonly routes: Readonly<Record<string, Answer>>
  refuse(response: ServerResponse, status: number, message: string, request: ModelRequest): void
}

export interface ModelServer {
  readonly url: string
  readonly asked: readonly ModelRequest[]
  /** Why it refused requests. */
  readonly refused: readonly string[]
}

/** Thrown by routes for requests that their API does not take. */
class Unfit extends Error {}

/** Starts a server until the end of the test. */
export async function startModels(t: TestContext, kind: Kind): Promise<ModelServer> {
  const asked: ModelRequest[] = []
  const refused: string[] = []
  const server = createServer(async (incoming, response) => {
    const { pathname: path } = new URL(incoming.url!, 'http://models')
    const body = await text(incoming)
    const { method = '', headers } = incoming
    const request = { method, path, headers, body: body === '' ? {} : JSON.parse(body) }
    asked.push(request)
    const refuse = (status: number, message: string) => {
      refused.push(`${method} ${path}: ${message}`)
      kind.refuse(response, status, message, request)
    }
    const route = kind.routes[`${method} ${path}`]
    if (route === undefined) return refuse(404, 'Not Found')
    try {
      route(request, response)
    } catch (error) {
      if (!(error instanceof Unfit)) throw error
      refuse(400, error.message)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, refused }
}

function demand(isFit: boolean, message: string): void {
  if (!isFit) throw new Unfit(message)
}

function demandMembers(body: Members, known: readonly string[], message: (name: string) => string): void {
  for (const name of Object.keys(body)) demand(known.includes(name), message(name))
}

/** The tools for commands of agents, and how each takes one. */
const shells: Readonly<Record<string, Members>> = {
  Bash: { command, description: 'Write a file' },
  exec_command: { cmd: command },
  shell_command: { command },
}

/** Returns the call that a model makes, or null if it ends: without a tool for commands, or with the result of one. */
function callOf(tools: readonly { readonly name?: string }[], hasResult: boolean) {
  const tool = hasResult ? undefined : tools.find(({ name = '' }) => name in shells)
  return tool === undefined ? null : { name: tool.name!, input: shells[tool.name!]! }
}

const list = (value: unknown): readonly Members[] => (Array.isArray(value) ? value : [])

// Chat Completions

const chatMembers = [
  ...[
    'model',
    'messages',
    'tools',
    'tool_choice',
    'parallel_tool_calls',
    'stream',
    'stream_options',
    'store',
  ],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'stop', 'n', 'seed', 'user', 'metadata'],
  ...['reasoning_effort', 'response_format', 'service_tier', 'prompt_cache_key', 'verbosity'],
  ...['frequency_penalty', 'presence_penalty', 'logprobs', 'safety_identifier'],
]
const chatRoles = ['system', 'developer', 'user', 'assistant', 'tool']

export const chat: Answer = ({ body }, response) => {
  demandMembers(body, chatMembers, name => `Unrecognized request argument supplied: ${name}`)
  demand(typeof body.model === 'string', 'you must provide a model parameter')
  const messages = list(body.messages)
  demand(messages.length > 0, "Invalid 'messages': empty array")
  const open = new Set<unknown>()
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    demand(chatRoles.includes(role as string), `Invalid value: '${role}'`)
    if (role === 'tool') demand(open.delete(id), "messages with role 'tool' must follow 'tool_calls'")
    else demand(open.size === 0, "'tool_calls' must be followed by tool messages for each 'tool_call_id'")
    for (const call of list(calls)) open.add(call.id)
  }
  demand(open.size === 0, "'tool_calls' must be followed by tool messages for each 'tool_call_id'")
  const tools = list(body.tools).map(tool => {
    demand(tool.type === 'function', `Invalid value: '${tool.type}'. Supported values are: 'function'`)
    return functionOf(tool.function as Members)
  })
  const call = callOf(
    tools,
    messages.some(({ role }) => role === 'tool'),
  )
  const message = call
    ? { role: 'assistant', content: null, tool_calls: [chatCall(call)] }
    : { role: 'assistant', content: farewell }
  const finish = call ? 'tool_calls' : 'stop'
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  const head = { id: 'chatcmpl-1', created: 1_767_225_600, model: body.model }
  if (body.stream !== true) {
    const choices = [{ index: 0, message, logprobs: null, finish_reason: finish }]
    return say(response, { ...head, object: 'chat.completion', choices, usage })
  }
  const send = stream(response)
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    send({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  const { content, tool_calls: calls } = message
  chunk({ role: 'assistant', content: call ? null : '' })
  if (calls === undefined) for (const piece of halves(content!)) chunk({ content: piece })
  for (const { id, type, function: called } of calls ?? []) {
    chunk({ tool_calls: [{ index: 0, id, type, function: { name: called.name, arguments: '' } }] })
    for (const piece of halves(called.arguments))
      chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })
  }
  chunk({}, finish)
  const wantsUsage = (body.stream_options as Members | undefined)?.include_usage === true
  if (wantsUsage) send({ ...head, object: 'chat.completion.chunk', choices: [], usage })
  send('[DONE]')
  response.end()
}

function functionOf(tool: Members): { readonly name: string } {
  demand(/^[\w-]{1,64}$/.test(tool.name as string), "Invalid 'tools[0].function.name'")
  demand(typeof tool.parameters === 'object', "Invalid 'tools[0].function.parameters'")
  return { name: tool.name as string }
}

const chatCall = ({ name, input }: NonNullable<ReturnType<typeof callOf>>) => ({
  id: 'call_1',
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
})

/** As the pieces of a stream come. */
function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2)
  return [text.slice(0, middle), text.slice(middle)]
}

// Responses

const responsesMembers = [
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'stream', 'store'],
  ...[
    'reasoning',
    'include',
    'prompt_cache_key',
    'client_metadata',
    'max_output_tokens',
    'temperature',
    'top_p',
  ],
  ...['text', 'user', 'metadata', 'service_tier', 'truncation', 'safety_identifier', 'stream_options'],
]

export const responses: Answer = ({ body }, response) => {
  demandMembers(body, responsesMembers, name => `Unknown parameter: '${name}'.`)
  demand(typeof body.model === 'string', "Missing required parameter: 'model'.")
  const input = typeof body.input === 'string' ? [] : list(body.input)
  const calls = new Set(input.filter(({ type }) => type === 'function_call').map(({ call_id: id }) => id))
  const results = input.filter(({ type }) => type === 'function_call_output')
  for (const { call_id: id } of results)
    demand(calls.delete(id), `No tool call found for function call output with call_id ${id}.`)
  for (const id of calls) demand(false, `No tool output found for function call ${id}.`)
  const tools = list(body.tools)
  for (const tool of tools.filter(({ type }) => type === 'function')) functionOf(tool)
  const call = callOf(tools, results.length > 0)
  const item = call
    ? {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: call.name,
        arguments: JSON.stringify(call.input),
      }
    : { type: 'message', id: 'msg_1', role: 'assistant', content: [{ ...outputText, text: farewell }] }
  const begun = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_767_225_600,
    model: body.model,
    status: 'in_progress',
    output: [],
    usage: null,
  }
  const done = { ...item, status: 'completed' }
  const whole = { ...begun, status: 'completed', output: [done], usage: responsesUsage }
  if (body.stream !== true) return say(response, whole)
  const send = stream(response)
  let sequence = 0
  const event = (type: string, members: Members) =>
    send({ type, sequence_number: sequence++, ...members }, type)
  event('response.created', { response: begun })
  event('response.in_progress', { response: begun })
  const open = call ? { ...item, arguments: '' } : { ...item, content: [] }
  event('response.output_item.added', { output_index: 0, item: { ...open, status: 'in_progress' } })
  const at = { item_id: item.id, output_index: 0 }
  if (call) {
    const text = JSON.stringify(call.input)
    for (const delta of halves(text)) event('response.function_call_arguments.delta', { ...at, delta })
    event('response.function_call_arguments.done', { ...at, name: call.name, arguments: text })
  } else {
    const part = { ...at, content_index: 0 }
    event('response.content_part.added', { ...part, part: outputText })
    for (const delta of halves(farewell))
      event('response.output_text.delta', { ...part, delta, logprobs: [] })
    event('response.output_text.done', { ...part, text: farewell, logprobs: [] })
    event('response.content_part.done', { ...part, part: { ...outputText, text: farewell } })
  }
  event('response.output_item.done', { output_index: 0, item: done })
  event('response.completed', { response: whole })
  response.end()
}

const outputText = { type: 'output_text', text: '', annotations: [], logprobs: [] }
const responsesUsage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 25,
}

// Messages

const messagesMembers = [
  ...['model', 'messages', 'system', 'max_tokens', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking'],
  ...[
    'temperature',
    'top_p',
    'top_k',
    'stop_sequences',
    'service_tier',
    'context_management',
    'output_config',
  ],
]

export const messages: Answer = ({ body }, response) => {
  demandMembers(body, messagesMembers, name => `${name}: Extra inputs are not permitted`)
  demand(Number(body.max_tokens) >= 1, 'max_tokens: Field required')
  const call = callOf(list(body.tools) as { name?: string }[], hasToolResult(list(body.messages)))
  const block = call ? { type: 'tool_use', id: 'toolu_1', ...call } : { type: 'text', text: farewell }
  const usage = {
    input_tokens: 20,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 5,
  }
  const whole = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: body.model, content: [block] },
    ...{ stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null, usage },
  }
  if (body.stream !== true) return say(response, whole)
  const send = stream(response)
  const event = (type: string, members: Members) => send({ type, ...members }, type)
  event('message_start', {
    message: { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
  })
  const begun = call ? { ...block, input: {} } : { type: 'text', text: '' }
  event('content_block_start', { index: 0, content_block: begun })
  event('ping', {})
  for (const piece of halves(call ? JSON.stringify(call.input) : farewell)) {
    const delta = call
      ? { type: 'input_json_delta', partial_json: piece }
      : { type: 'text_delta', text: piece }
    event('content_block_delta', { index: 0, delta })
  }
  event('content_block_stop', { index: 0 })
  event('message_delta', { delta: { stop_reason: whole.stop_reason, stop_sequence: null }, usage })
  event('message_stop', {})
  response.end()
}

/** Demands that each use of a tool has its result in the next message, and each result its use. */
function hasToolResult(messages: readonly Members[]): boolean {
  demand(messages.length > 0, 'messages: at least one message is required')
  let open = new Set<unknown>()
  let hasResult = false
  for (const [i, { role, content }] of messages.entries()) {
    demand(
      ['user', 'assistant', 'system'].includes(role as string),
      `messages.${i}.role: Input should be user`,
    )
    const blocks = list(content)
    for (const { type, tool_use_id: id } of blocks) {
      if (type !== 'tool_result') continue
      hasResult = true
      demand(open.delete(id), `messages.${i}: unexpected tool_use_id found in tool_result blocks: ${id}`)
    }
    demand(open.size === 0, `messages.${i}: tool_use ids were found without tool_result blocks`)
    open = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id))
  }
  demand(open.size === 0, 'messages: tool_use ids were found without tool_result blocks')
  return hasResult
}

export const countTokens: Answer = ({ body }, response) => {
  demand(list(body.messages).length > 0, 'messages: at least one message is required')
  demand(body.max_tokens === undefined, 'max_tokens: Extra inputs are not permitted')
  say(response, { input_tokens: 42 })
}

// What has no tools

export const completions: Answer = ({ body }, response) => {
  demand(body.prompt !== undefined, 'you must provide a prompt')
  const choices = [{ index: 0, text: farewell, logprobs: null, finish_reason: 'stop' }]
  say(response, { id: 'cmpl-1', object: 'text_completion', created: 1, model: body.model, choices })
}

export const embeddings: Answer = ({ body }, response) => {
  const inputs = Array.isArray(body.input) ? body.input : [body.input]
  demand(inputs[0] !== undefined, "Missing required parameter: 'input'.")
  const data = inputs.map((_, index) => ({ object: 'embedding', index, embedding: [0.1, 0.2] }))
  say(response, { object: 'list', model: body.model, data, usage: { prompt_tokens: 2, total_tokens: 2 } })
}

export const models =
  (...ids: readonly string[]): Answer =>
  (_, response) =>
    say(response, {
      object: 'list',
      data: ids.map(id => ({ id, object: 'model', created: 1_767_225_600, owned_by: 'library' })),
    })

const claudeModels: Answer = (_, response) => {
  const [first_id, last_id] = ['claude-opus-5-5', 'claude-haiku-5-5']
  const data = [first_id, last_id].map(id => ({
    ...{ type: 'model', id, display_name: id, created_at: '2026-01-01T00:00:00Z' },
  }))
  say(response, { data, has_more: false, first_id, last_id })
}

const openaiError: Kind['refuse'] = (response, status, message) =>
  say(response, { error: { message, type: 'invalid_request_error', param: null, code: null } }, status)

/** The providers as they are. */
export const openai: Kind = {
  routes: {
    'POST /v1/chat/completions': chat,
    'POST /v1/responses': responses,
    'POST /v1/embeddings': embeddings,
    'GET /v1/models': models('gpt-5', 'text-embedding-3-small'),
  },
  refuse: openaiError,
}
export const chatAlone: Kind = {
  routes: { 'POST /v1/chat/completions': chat, 'GET /v1/models': models('lab') },
  refuse: openaiError,
}
export const responsesAlone: Kind = {
  routes: { 'POST /v1/responses': responses, 'GET /v1/models': models('lab') },
  refuse: openaiError,
}
export const anthropic: Kind = {
  routes: {
    'POST /v1/messages': messages,
    'POST /v1/messages/count_tokens': countTokens,
    'GET /v1/models': claudeModels,
  },
  refuse: (response, status, message) =>
    say(
      response,
      {
        type: 'error',
        error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message },
      },
      status,
    ),
}

// Servers that people run themselves, with the routes of their current versions.

const openaiRoutes = {
  'POST /v1/chat/completions': chat,
  'POST /v1/completions': completions,
  'POST /v1/responses': responses,
  'POST /v1/embeddings': embeddings,
  'POST /v1/messages': messages,
}

export const ollama: Kind = {
  routes: {
    ...openaiRoutes,
    'GET /v1/models': models('llama3.2:1b'),
    'GET /api/tags': (_, response) => say(response, { models: [{ name: 'llama3.2:1b' }] }),
  },
  refuse(response, status, message, request) {
    if (status === 404) response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found')
    else if (request.path === '/v1/messages') anthropic.refuse(response, status, message, request)
    else openaiError(response, status, message, request)
  },
}

export const vllm: Kind = {
  routes: {
    ...openaiRoutes,
    'POST /v1/messages/count_tokens': countTokens,
    'GET /v1/models': models('Qwen/Qwen3-8B'),
  },
  refuse(response, status, message) {
    const type = status === 404 ? 'Not Found' : 'Bad Request'
    say(response, { error: { message, type, param: null, code: status } }, status)
  },
}

export const llamaCpp: Kind = {
  routes: {
    ...openaiRoutes,
    'POST /v1/messages/count_tokens': countTokens,
    'GET /v1/models': models('qwen3-8b.gguf'),
    // Some paths work without the version too, others differ from theirs: /completions and /embeddings are its own.
    'POST /chat/completions': chat,
    'POST /responses': responses,
    'GET /models': models('qwen3-8b.gguf'),
  },
  refuse(response, status, message) {
    const error =
      status === 404
        ? { code: 404, message: 'File Not Found', type: 'not_found_error' }
        : { code: status, message, type: 'invalid_request_error' }
    say(response, { error }, status)
  },
}

export const lmStudio: Kind = {
  routes: { ...openaiRoutes, 'GET /v1/models': models('qwen/qwen3-8b') },
  refuse(response, status, message, { method, path }) {
    // It answers what it does not know with 200.
    if (status === 404) say(response, { error: `Unexpected endpoint or method. (${method} ${path})` })
    else say(response, { error: { message, type: 'invalid_request_error' } }, status)
  },
}
