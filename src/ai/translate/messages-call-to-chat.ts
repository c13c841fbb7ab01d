// Translates a call of Anthropic Messages for a provider that speaks OpenAI Chat Completions.

import { createHash } from 'node:crypto'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { messagesResponse } from './chat-response-to-messages.ts'
import { MessageEvents } from './chat-events-to-messages.ts'
import { writeBody } from './json.ts'
import { type ChatMessage, systemContent, turns } from './messages-conversation-to-chat.ts'
import { Findings, Place } from './place.ts'
import {
  anything,
  dropped,
  list,
  map,
  never,
  number,
  object,
  off,
  record,
  text,
  truth,
  variants,
  whole,
  words,
} from './rules.ts'
import { messagesTool, messagesToolChoice } from './tools.ts'
import type { Translation } from './translation.ts'

/** Refuses by name what has no equivalent. `streamsUsage`: whether to request usage from a stream. */
export function messagesToChat(
  request: Record<string, unknown>,
  model: string,
  { streamsUsage = true } = {},
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Messages', to: 'Chat Completions' }))
  const messages = messagesRequest(request, at)
  const takesEffort = hasEffort(model)
  if (!takesEffort && messages?.output_config?.effort !== undefined)
    at.step('output_config').step('effort').drop()
  const body = messages && writeBody(chatRequest(messages, model, { streamsUsage, takesEffort }), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  return {
    body,
    dropped: [...at.findings.dropped],
    response: messagesResponse,
    events: () => new MessageEvents(),
  }
}

/** Chat requires a name for each format. */
const outputFormat = variants('type', {
  json_schema: map(record({ type: text, schema: object }, {}), ({ schema }) => ({
    type: 'json_schema' as const,
    json_schema: { name: 'answer', strict: true, schema },
  })),
})

const effort = words({ low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' } as const)

/** Thinking is never forwarded, so nothing is left to clear; other edits would change the input. */
const contextManagement = record({}, { edits: list(variants('type', { clear_thinking_20251015: dropped })) })

const messagesRequest = map(
  record(
    { model: anything, max_tokens: whole(1), messages: turns },
    {
      system: systemContent,
      temperature: number(0, 1),
      top_p: number(0, 1),
      stop_sequences: list(text),
      stream: truth,
      tools: list(messagesTool),
      tool_choice: messagesToolChoice,
      output_config: record({}, { format: outputFormat, effort }),
      service_tier: words({ auto: 'auto', standard_only: 'default' } as const),
      metadata: record({}, { user_id: text }),
      // Caching and thinking are settings of chat providers.
      cache_control: dropped,
      context_management: contextManagement,
      diagnostics: dropped,
      thinking: variants('type', {
        disabled: record({ type: text }, {}),
        enabled: dropped,
        adaptive: dropped,
      }),
      // Only with a value that changes nothing.
      top_k: off(),
      container: off(),
      inference_geo: off(),
      mcp_servers: off([]),
      speed: off('standard'),
      thread: never('send the whole conversation, with thread: false in SDKs that keep threads'),
    },
  ),
  (messages, at) => {
    const demand = messages.tool_choice?.word ?? 'auto'
    if (!messages.tools?.length && demand !== 'auto' && demand !== 'none') {
      at.step('tool_choice').fault('must not require a tool when tools is missing')
    }
    return messages
  },
)

type MessagesRequest = NonNullable<ReturnType<typeof messagesRequest>>

function chatRequest(
  request: MessagesRequest,
  model: string,
  { streamsUsage, takesEffort }: { streamsUsage: boolean; takesEffort: boolean },
) {
  const { system, messages, tools, tool_choice: choice, output_config: output } = request
  const hasTools = tools !== undefined && tools.length > 0
  return {
    model,
    messages: withSystem(system, messages),
    [limitOf(model)]: request.max_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    stop: request.stop_sequences?.length ? request.stop_sequences : undefined,
    stream: request.stream,
    stream_options: request.stream && streamsUsage ? { include_usage: true } : undefined,
    tools: hasTools ? tools : undefined,
    tool_choice: hasTools ? choice?.word : undefined,
    parallel_tool_calls: hasTools && choice?.disable_parallel_tool_use ? false : undefined,
    response_format: output?.format,
    reasoning_effort: takesEffort ? output?.effort : undefined,
    service_tier: request.service_tier,
    user: userOf(request.metadata?.user_id),
  }
}

function withSystem(
  content: MessagesRequest['system'],
  messages: readonly ChatMessage[],
): readonly ChatMessage[] {
  return content === undefined || content.length === 0 ? messages : [{ role: 'system', content }, ...messages]
}

/** A long name becomes its SHA-256 digest, which still distinguishes users. */
function userOf(name: string | undefined): string | undefined {
  return name === undefined || name.length <= longestUser
    ? name
    : createHash('sha256').update(name).digest('hex')
}

/** As OpenAI accepts, and the length of the digest in hex. */
const longestUser = 64

/** Most providers refuse levels of effort for other models. */
function hasEffort(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return /^(?:o\d|gpt-(?:[5-9](?!.*-chat)|oss)|gemini-(?:2\.5|[3-9]))/.test(name)
}

/** OpenAI's models refuse the older name, and many others know only that. */
function limitOf(model: string): 'max_completion_tokens' | 'max_tokens' {
  return /^(?:gpt-(?!oss)|chatgpt-|o\d)/.test(model) ? 'max_completion_tokens' : 'max_tokens'
}
