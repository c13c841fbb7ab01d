// Translates a call of OpenAI Responses for a provider that speaks Anthropic Messages.

import { type Refusal, refuse } from '../../../errors/catalogue/refusal.ts'
import { openAiError } from '../errors.ts'
import { writeBody } from '../json.ts'
import { Findings, Place } from '../place.ts'
import { functionsFor, responsesMembers } from '../responses/responses-request.ts'
import { responseSettings } from '../responses/response-settings.ts'
import { type FunctionTool, ToolNames } from '../responses/responses-tools.ts'
import { anything, map, number, record, words } from '../rules.ts'
import type { Translation } from '../translation.ts'
import { ResponseEventsOfMessages } from './messages-events-to-responses.ts'
import { responseOfMessages } from './messages-response-to-responses.ts'
import { responsesTurns, type Turn } from './responses-conversation-to-messages.ts'
import { budgetFor, thinkingStyle, usualLimit } from './thinking-of-claude.ts'

/**
 * Refuses by name what has no equivalent, and whatever needs a store. `tag` marks the reasoning of the
 * provider, which it gets back in the next call; `now` is ms since the epoch.
 */
export function responsesToMessages(
  request: Record<string, unknown>,
  model: string,
  tag: string,
  now: () => number = Date.now,
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Responses', to: 'Messages', tag }))
  const call = responsesRequest(request, at)
  const body = call && writeBody(messagesRequest(call, model, at), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  const options = { names: new ToolNames(call.functions), settings: responseSettings(request), tag, now }
  return {
    body,
    dropped: [...at.findings.dropped],
    response: json => responseOfMessages(json, options),
    failure: openAiError,
    events: () => new ResponseEventsOfMessages(options),
  }
}

const serviceTier = words({ auto: 'auto', default: 'standard_only', priority: 'auto' } as const)

const responsesRequest = map(
  record(
    { model: anything, input: responsesTurns },
    {
      ...responsesMembers,
      temperature: number(0, 1, ', the highest that Messages allows'),
      service_tier: serviceTier,
    },
  ),
  (call, at) => {
    const { tools = [], tool_choice: choice, user, safety_identifier: id } = call
    const functions = functionsFor([...tools, ...call.input.tools], choice)
    if (choice?.mode === 'required' && functions.length === 0)
      at.step('tool_choice').fault('must not require a tool when tools is missing')
    if (user !== undefined && id !== undefined && user !== id) at.step('safety_identifier').drop()
    if (call.text?.format === null)
      at.step('text').step('format').untranslatable('use json_schema in place of json_object')
    return { ...call, functions }
  },
)

type ResponsesRequest = NonNullable<ReturnType<typeof responsesRequest>>

function messagesRequest(request: ResponsesRequest, model: string, at: Place) {
  const { functions, input, instructions } = request
  const system = instructions
    ? [{ type: 'text' as const, text: instructions }, ...input.system]
    : input.system
  const user_id = request.user ?? request.safety_identifier
  const max_tokens = request.max_output_tokens ?? usualLimit(model)
  const hasTools = functions.length > 0
  const { thinking, effort } = thinkingOf(request, model, max_tokens, at)
  const schema = request.text?.format?.schema
  const format = schema && { type: 'json_schema' as const, schema }
  return {
    model,
    max_tokens,
    system: system.length > 0 ? system : undefined,
    messages: input.turns,
    temperature: unlessUsual(request.temperature),
    top_p: unlessUsual(request.top_p),
    stream: request.stream,
    tools: hasTools ? functions.map(toolOf) : undefined,
    tool_choice: hasTools ? choiceOf(request) : undefined,
    thinking,
    output_config: format || effort ? { format, effort } : undefined,
    service_tier: request.service_tier,
    metadata: user_id === undefined ? undefined : { user_id },
  }
}

function toolOf({ name, description, parameters, strict }: FunctionTool) {
  return { name, description, input_schema: parameters, strict }
}

function choiceOf({ tool_choice: choice, parallel_tool_calls: isParallel }: ResponsesRequest) {
  const one = isParallel === false ? { disable_parallel_tool_use: true } : {}
  if (choice === undefined) return isParallel === false ? { type: 'auto' as const, ...one } : undefined
  if (choice.name !== undefined) return { type: 'tool' as const, name: choice.name, ...one }
  if (choice.mode === 'none') return { type: 'none' as const }
  return { type: choice.mode === 'required' ? ('any' as const) : ('auto' as const), ...one }
}

/** 1 is the default of both APIs; newer models refuse all sampling parameters. */
function unlessUsual(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value
}

function thinkingOf(
  { reasoning, tool_choice, input }: ResponsesRequest,
  model: string,
  limit: number,
  at: Place,
) {
  const { effort, summary, generate_summary } = reasoning ?? {}
  const isShown = (summary ?? generate_summary ?? null) !== null
  if (effort === 'none') return { thinking: { type: 'disabled' as const } }
  if (effort === undefined && !isShown) return {}
  const style = tool_choice?.mode === 'required' ? null : thinkingStyle(model)
  if (style === 'adaptive') {
    const display = isShown ? ('summarized' as const) : undefined
    return { thinking: { type: 'adaptive' as const, display }, effort: effort === 'minimal' ? 'low' : effort }
  }
  // A summary alone asks for no more thinking than usual.
  if (effort === undefined) return {}
  const budget_tokens = style === null || lacksThinking(input.turns) ? null : budgetFor(effort, limit)
  if (budget_tokens !== null) return { thinking: { type: 'enabled' as const, budget_tokens } }
  at.step('reasoning').step('effort').drop()
  return {}
}

/**
 * With a budget, the Messages API refuses the results of tools if the turn that called them does not begin
 * with thinking, as one of another provider.
 */
function lacksThinking(turns: readonly Turn[]): boolean {
  const last = turns.findLast(({ role }) => role === 'assistant')
  const content: readonly { readonly type: string }[] = last?.content ?? []
  return content.some(({ type }) => type === 'tool_use') && !content[0]!.type.endsWith('thinking')
}
