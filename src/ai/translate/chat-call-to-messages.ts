// Translates a call of OpenAI Chat Completions for a provider that speaks Anthropic Messages.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { conversation } from './chat-conversation-to-messages.ts'
import { openAiError } from './errors.ts'
import { writeBody } from './json.ts'
import { chatResponse } from './messages-response-to-chat.ts'
import { ChatEvents } from './messages-events-to-chat.ts'
import { Findings, Place } from './place.ts'
import {
  anything,
  dropped,
  droppedUnless,
  list,
  map,
  number,
  object,
  off,
  type Rule,
  record,
  text,
  textOr,
  truth,
  variants,
  whole,
  words,
} from './rules.ts'
import { chatFunction, chatFunctionChoice, chatTool, chatToolChoice } from './tools.ts'
import type { Translation } from './translation.ts'

/**
 * Refuses by name what has no equivalent in Messages, which requires `max_tokens`: by default 4,096. `now` is
 * ms since the epoch.
 */
export function chatToMessages(
  request: Record<string, unknown>,
  model: string,
  now: () => number = Date.now,
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Chat Completions', to: 'Messages' }))
  const chat = chatRequest(request, at)
  const body = chat && writeBody(messagesRequest(chat, model), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  return {
    body,
    dropped: [...at.findings.dropped],
    response: json => chatResponse(json, now(), { asFunction: chat.asFunction }),
    failure: openAiError,
    events: () =>
      new ChatEvents({
        withUsage: chat.stream_options?.include_usage === true,
        now: now(),
        asFunction: chat.asFunction,
      }),
  }
}

/** Messages always follows the schema, with or without `strict`, and has no name of the format. */
const jsonSchema = record(
  {
    type: text,
    json_schema: record({ name: text, schema: object }, { strict: truth, description: off('') }),
  },
  {},
)

const responseFormat = map(
  variants('type', { text: record({ type: text }, {}), json_schema: jsonSchema }),
  format =>
    'json_schema' in format ? { type: 'json_schema' as const, schema: format.json_schema.schema } : undefined,
)

const effort = words({
  none: null,
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
} as const)

/** 1 is the default of both APIs; newer versions of Messages refuse all sampling parameters. */
const unusual = (rule: Rule<number>) => map(rule, value => (value === 1 ? undefined : value))

const chatRequest = map(
  record(
    { model: anything, messages: conversation },
    {
      max_completion_tokens: whole(1),
      max_tokens: whole(1),
      temperature: unusual(number(0, 1, ', the highest that Messages allows')),
      top_p: unusual(number(0, 1)),
      stop: textOr(list(text)),
      stream: truth,
      stream_options: record({}, { include_usage: truth, include_obfuscation: droppedUnless(false) }),
      tools: list(chatTool),
      tool_choice: chatToolChoice,
      parallel_tool_calls: truth,
      response_format: responseFormat,
      reasoning_effort: effort,
      service_tier: words({ auto: 'auto', default: 'standard_only' } as const),
      user: text,
      safety_identifier: text,
      // The predecessor of tools; a response has one call at most.
      functions: list(chatFunction),
      function_call: chatFunctionChoice,
      // Hints, or labels of stored data.
      metadata: droppedUnless({}),
      prediction: dropped,
      prompt_cache_key: droppedUnless(''),
      prompt_cache_options: droppedUnless({}),
      prompt_cache_retention: dropped,
      verbosity: droppedUnless('medium'),
      // Only with a value that changes nothing.
      n: off(1),
      logprobs: off(false),
      top_logprobs: off(0),
      logit_bias: off({}),
      frequency_penalty: off(0),
      presence_penalty: off(0),
      seed: off(),
      store: off(false),
      modalities: off(['text']),
      audio: off(),
      moderation: off(),
      web_search_options: off(),
    },
  ),
  (chat, at) => {
    if (differ(chat.max_tokens, chat.max_completion_tokens)) {
      at.step('max_tokens').fault('must equal max_completion_tokens')
    }
    if (differ(chat.user, chat.safety_identifier)) {
      at.step('user').fault('must equal safety_identifier: Messages has one field for both')
    }
    if (!chat.tools?.length && (chat.tool_choice?.type === 'any' || chat.tool_choice?.type === 'tool')) {
      at.step('tool_choice').fault('must not require a tool when tools is missing')
    }
    const asFunction = chat.functions !== undefined && chat.functions.length > 0
    if (!asFunction && chat.function_call?.type === 'tool') {
      at.step('function_call').fault('must not require a function when functions is missing')
    }
    if (!asFunction) return { ...chat, asFunction }
    if (chat.tools?.length) at.step('functions').fault('cannot be combined with tools')
    const { functions: tools, function_call: tool_choice } = chat
    return { ...chat, asFunction, tools, tool_choice, parallel_tool_calls: false }
  },
)

type ChatRequest = NonNullable<ReturnType<typeof chatRequest>>

const usualLimit = 4096

function messagesRequest(chat: ChatRequest, model: string) {
  const user_id = chat.user ?? chat.safety_identifier
  const { system, messages } = chat.messages
  return {
    model,
    max_tokens: chat.max_completion_tokens ?? chat.max_tokens ?? usualLimit,
    system,
    messages,
    temperature: chat.temperature,
    top_p: chat.top_p,
    stop_sequences: typeof chat.stop === 'string' ? [chat.stop] : chat.stop,
    stream: chat.stream,
    tools: chat.tools?.length ? chat.tools : undefined,
    tool_choice: choiceFor(chat),
    output_config: outputConfig(chat),
    thinking: chat.reasoning_effort === null ? { type: 'disabled' as const } : undefined,
    service_tier: chat.service_tier,
    metadata: user_id === undefined ? undefined : { user_id },
  }
}

/** Joins what chat has in two members; Messages accepts neither without tools. */
function choiceFor({ tools, tool_choice: choice, parallel_tool_calls: isParallel }: ChatRequest) {
  if (!tools?.length) return undefined
  if (isParallel !== false || choice?.type === 'none') return choice
  return { type: 'auto' as const, ...choice, disable_parallel_tool_use: true }
}

function outputConfig({ response_format: format, reasoning_effort }: ChatRequest) {
  const effort = reasoning_effort ?? undefined
  return format || effort ? { format, effort } : undefined
}

function differ(one: unknown, other: unknown): boolean {
  return one !== undefined && other !== undefined && one !== other
}
