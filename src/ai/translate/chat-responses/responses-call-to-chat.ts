// Translates a call of OpenAI Responses for a provider that speaks Chat Completions.

import { type Refusal, refuse } from '../../../errors/catalogue/refusal.ts'
import { writeBody } from '../json.ts'
import { hasEffort } from '../messages/messages-request.ts'
import { limitOf } from '../messages-call-to-chat.ts'
import { Findings, Place } from '../place.ts'
import { responsesInput } from '../responses/responses-input.ts'
import { functionsFor, responsesMembers, type TextFormat } from '../responses/responses-request.ts'
import { responseSettings } from '../responses/response-settings.ts'
import { type FunctionTool, ToolNames } from '../responses/responses-tools.ts'
import { anything, map, number, record, words } from '../rules.ts'
import type { Translation } from '../translation.ts'
import { responseOfChat } from './chat-response-to-responses.ts'
import { ResponseEventsOfChat } from './chat-events-to-responses.ts'
import { chatMessages } from './responses-conversation-to-chat.ts'

/**
 * Refuses by name what has no equivalent, and whatever needs a store. `streamsUsage`: whether to request
 * usage from a stream; `now` is ms since the epoch.
 */
export function responsesToChat(
  request: Record<string, unknown>,
  model: string,
  {
    streamsUsage = true,
    now = Date.now,
  }: { readonly streamsUsage?: boolean; readonly now?: () => number } = {},
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Responses', to: 'Chat Completions' }))
  const call = responsesRequest(request, at)
  const takesEffort = hasEffort(model)
  if (!takesEffort && call?.reasoning?.effort !== undefined) at.step('reasoning').step('effort').drop()
  const body = call && writeBody(chatRequest(call, model, { streamsUsage, takesEffort }), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  const names = new ToolNames(call.functions)
  const settings = responseSettings(request)
  return {
    body,
    dropped: [...at.findings.dropped],
    response: json => responseOfChat(json, { names, settings, now }),
    events: () => new ResponseEventsOfChat({ names, settings, now }),
  }
}

const serviceTier = words({
  auto: 'auto',
  default: 'default',
  flex: 'flex',
  scale: 'scale',
  priority: 'priority',
} as const)

const responsesRequest = map(
  record(
    { model: anything, input: responsesInput((_item, at) => at.step('reasoning').drop()) },
    { ...responsesMembers, temperature: number(0, 2), service_tier: serviceTier },
  ),
  (call, at) => {
    const { tools = [], tool_choice: choice, user, safety_identifier: id } = call
    const inputTools = call.input.flatMap(item => (item.kind === 'tools' ? item.tools : []))
    const functions = functionsFor([...tools, ...inputTools], choice)
    if (choice?.mode === 'required' && functions.length === 0)
      at.step('tool_choice').fault('must not require a tool when tools is missing')
    if (user !== undefined && id !== undefined && user !== id) at.step('safety_identifier').drop()
    return { ...call, functions }
  },
)

type ResponsesRequest = NonNullable<ReturnType<typeof responsesRequest>>

function chatRequest(
  request: ResponsesRequest,
  model: string,
  { streamsUsage, takesEffort }: { readonly streamsUsage: boolean; readonly takesEffort: boolean },
) {
  const { functions, tool_choice: choice } = request
  const hasTools = functions.length > 0
  return {
    model,
    messages: chatMessages(request.instructions, request.input),
    [limitOf(model)]: request.max_output_tokens,
    temperature: request.temperature,
    top_p: request.top_p,
    stream: request.stream,
    stream_options: request.stream && streamsUsage ? { include_usage: true } : undefined,
    tools: hasTools ? functions.map(chatTool) : undefined,
    tool_choice: hasTools && choice !== undefined ? choiceOf(choice) : undefined,
    parallel_tool_calls: hasTools && request.parallel_tool_calls === false ? false : undefined,
    response_format: formatOf(request.text?.format),
    reasoning_effort: takesEffort ? request.reasoning?.effort : undefined,
    service_tier: request.service_tier,
    user: request.user ?? request.safety_identifier,
  }
}

function chatTool({ name, description, parameters, strict }: FunctionTool) {
  return { type: 'function' as const, function: { name, description, parameters, strict } }
}

function choiceOf({ mode, name }: NonNullable<ResponsesRequest['tool_choice']>) {
  return name === undefined ? mode : { type: 'function' as const, function: { name } }
}

function formatOf(format: TextFormat | null | undefined) {
  if (format === undefined) return undefined
  if (format === null) return { type: 'json_object' as const }
  return { type: 'json_schema' as const, json_schema: format }
}
