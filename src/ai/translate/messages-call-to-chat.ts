// Translates a call of Anthropic Messages for a provider that speaks OpenAI Chat Completions.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { MessageEvents } from './chat-events-to-messages.ts'
import { messagesResponse } from './chat-response-to-messages.ts'
import { messagesError } from './errors.ts'
import { writeBody } from './json.ts'
import { type ChatMessage, systemContent, turns } from './messages-conversation-to-chat.ts'
import { hasEffort, messagesMembers, refuseChoiceWithoutTools, userOf } from './messages/messages-request.ts'
import { Findings, Place } from './place.ts'
import { anything, dropped, list, map, record, text, variants, whole } from './rules.ts'
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
    failure: messagesError,
    events: () => new MessageEvents(),
  }
}

const messagesRequest = map(
  record(
    { model: anything, max_tokens: whole(1), messages: turns },
    {
      ...messagesMembers,
      system: systemContent,
      stop_sequences: list(text),
      // Of chat, each provider has settings of its own.
      thinking: variants('type', {
        disabled: record({ type: text }, {}),
        enabled: dropped,
        adaptive: dropped,
        between_tools: dropped,
      }),
    },
  ),
  refuseChoiceWithoutTools,
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

/** OpenAI's models refuse the older name, and many others know only that. */
export function limitOf(model: string): 'max_completion_tokens' | 'max_tokens' {
  return /^(?:gpt-(?!oss)|chatgpt-|o\d)/.test(model) ? 'max_completion_tokens' : 'max_tokens'
}
