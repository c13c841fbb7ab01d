// Translates a call of OpenAI Chat Completions for a provider that speaks Responses.

import { type Refusal, refuse } from '../../../errors/catalogue/refusal.ts'
import { writeBody } from '../json.ts'
import { Findings, Place } from '../place.ts'
import {
  anything,
  dropped,
  droppedUnless,
  list,
  map,
  number,
  object,
  off,
  record,
  text,
  textOr,
  truth,
  variants,
  whole,
  words,
} from '../rules.ts'
import type { Translation } from '../translation.ts'
import { inputItems } from './chat-conversation-to-responses.ts'
import { ChatEventsOfResponse } from './responses-events-to-chat.ts'
import { chatOfResponse } from './responses-response-to-chat.ts'

/** Refuses by name what has no equivalent. `now` is ms since the epoch. */
export function chatToResponses(
  request: Record<string, unknown>,
  model: string,
  now: () => number = Date.now,
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Chat Completions', to: 'Responses' }))
  const chat = chatRequest(request, at)
  const body = chat && writeBody(responsesRequest(chat, model), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  const { asFunction } = chat
  const withUsage = chat.stream_options?.include_usage === true
  return {
    body,
    dropped: [...at.findings.dropped],
    response: json => chatOfResponse(json, now(), asFunction),
    events: () => new ChatEventsOfResponse({ withUsage, now: now(), asFunction }),
  }
}

/** Responses makes functions strict unless it is told otherwise, and chat does not. */
const chatFunction = map(
  record({ name: text }, { description: text, parameters: object, strict: truth }),
  ({ name, description, parameters = { type: 'object', properties: {} }, strict = false }) => ({
    type: 'function' as const,
    name,
    description,
    parameters,
    strict,
  }),
)

const grammar = map(
  record({ type: text, grammar: record({ definition: text, syntax: text }, {}) }, {}),
  ({ grammar }) => ({ type: 'grammar' as const, ...grammar }),
)

const customTool = map(
  record(
    { name: text },
    { description: text, format: variants('type', { text: record({ type: text }, {}), grammar }) },
  ),
  tool => ({ type: 'custom' as const, ...tool }),
)

const chatTool = variants('type', {
  function: map(
    record({ type: text, function: chatFunction }, { cache_control: dropped }),
    tool => tool.function,
  ),
  custom: map(record({ type: text, custom: customTool }, { cache_control: dropped }), tool => tool.custom),
})

const toolName = record({ name: text }, {})
const namedTool = {
  function: map(record({ type: text, function: toolName }, {}), ({ function: { name } }) => ({
    type: 'function' as const,
    name,
  })),
  custom: map(record({ type: text, custom: toolName }, {}), ({ custom: { name } }) => ({
    type: 'custom' as const,
    name,
  })),
}

const choiceWord = words({ auto: 'auto', none: 'none', required: 'required' } as const)

const allowedTools = map(
  record(
    {
      type: text,
      allowed_tools: record(
        {
          mode: words({ auto: 'auto', required: 'required' } as const),
          tools: list(variants('type', namedTool)),
        },
        {},
      ),
    },
    {},
  ),
  ({ allowed_tools }) => ({ type: 'allowed_tools' as const, ...allowed_tools }),
)

const toolChoice = map(
  textOr(variants('type', { ...namedTool, allowed_tools: allowedTools })),
  (choice, at) => (typeof choice === 'string' ? choiceWord(choice, at) : choice),
)

const functionChoiceWord = words({ auto: 'auto', none: 'none' } as const)

const functionChoice = map(
  textOr(map(toolName, ({ name }) => ({ type: 'function' as const, name }))),
  (choice, at) => (typeof choice === 'string' ? functionChoiceWord(choice, at) : choice),
)

const responseFormat = variants('type', {
  text: map(record({ type: text }, {}), () => undefined),
  json_object: record({ type: text }, {}),
  json_schema: map(
    record(
      {
        type: text,
        json_schema: record({ name: text }, { schema: object, description: text, strict: truth }),
      },
      {},
    ),
    ({ json_schema: { schema = {}, ...rest } }) => ({ type: 'json_schema' as const, schema, ...rest }),
  ),
})

const chatRequest = map(
  record(
    { model: anything, messages: inputItems },
    {
      max_completion_tokens: whole(1),
      max_tokens: whole(1),
      temperature: number(0, 2),
      top_p: number(0, 1),
      stop: off([]),
      stream: truth,
      stream_options: record({}, { include_usage: truth, include_obfuscation: droppedUnless(false) }),
      tools: list(chatTool),
      tool_choice: toolChoice,
      parallel_tool_calls: truth,
      response_format: responseFormat,
      reasoning_effort: text,
      verbosity: text,
      service_tier: text,
      user: text,
      safety_identifier: text,
      prompt_cache_key: text,
      prompt_cache_options: anything,
      prompt_cache_retention: text,
      // The predecessor of tools; a response has one call at most.
      functions: list(chatFunction),
      function_call: functionChoice,
      // Labels of stored data, and a hint.
      metadata: droppedUnless({}),
      prediction: dropped,
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
    const { max_tokens, max_completion_tokens } = chat
    const areEqual = (max_tokens ?? max_completion_tokens) === (max_completion_tokens ?? max_tokens)
    if (!areEqual) at.step('max_tokens').fault('must equal max_completion_tokens')
    const asFunction = chat.functions !== undefined && chat.functions.length > 0
    if (!asFunction) return { ...chat, asFunction }
    if (chat.tools?.length) at.step('functions').fault('cannot be combined with tools')
    const { functions: tools, function_call: tool_choice } = chat
    return { ...chat, asFunction, tools, tool_choice, parallel_tool_calls: false }
  },
)

type ChatRequest = NonNullable<ReturnType<typeof chatRequest>>

function responsesRequest(chat: ChatRequest, model: string) {
  const { response_format: format, reasoning_effort: effort, verbosity } = chat
  const limit = chat.max_completion_tokens ?? chat.max_tokens
  const hasTools = chat.tools !== undefined && chat.tools.length > 0
  return {
    model,
    input: chat.messages,
    max_output_tokens: limit === undefined ? undefined : Math.max(minLimit, limit),
    temperature: chat.temperature,
    top_p: chat.top_p,
    stream: chat.stream,
    tools: hasTools ? chat.tools : undefined,
    tool_choice: hasTools ? chat.tool_choice : undefined,
    parallel_tool_calls: hasTools ? chat.parallel_tool_calls : undefined,
    text: format === undefined && verbosity === undefined ? undefined : { format, verbosity },
    reasoning: effort === undefined ? undefined : { effort },
    service_tier: chat.service_tier,
    user: chat.user,
    safety_identifier: chat.safety_identifier,
    prompt_cache_key: chat.prompt_cache_key,
    prompt_cache_options: chat.prompt_cache_options,
    prompt_cache_retention: chat.prompt_cache_retention,
    // As in chat: nothing is stored unless the caller wants it.
    store: false,
  }
}

/** As OpenAI requires. */
const minLimit = 16
