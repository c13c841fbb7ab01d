// Translates a call of Anthropic Messages for a provider that speaks OpenAI Responses.

import { type Refusal, refuse } from '../../../errors/catalogue/refusal.ts'
import { messagesError } from '../errors.ts'
import { writeBody } from '../json.ts'
import { hasEffort, messagesMembers, refuseChoiceWithoutTools, userOf } from '../messages/messages-request.ts'
import { Findings, Place } from '../place.ts'
import { anything, map, off, record, text, variants, whole, words } from '../rules.ts'
import type { Translation } from '../translation.ts'
import { inputItems, instructions } from './messages-conversation-to-responses.ts'
import { MessageEventsOfResponse } from './responses-events-to-messages.ts'
import { messagesResponse } from './responses-response-to-messages.ts'

/**
 * Refuses by name what has no equivalent. `tag` marks the reasoning of the provider, which it gets back in
 * the next call.
 */
export function messagesToResponses(
  request: Record<string, unknown>,
  model: string,
  tag: string,
): Translation | Refusal {
  const at = new Place(new Findings({ from: 'Messages', to: 'Responses', tag }))
  const messages = messagesRequest(request, at)
  const reasons = hasEffort(model)
  if (messages !== undefined && !reasons) dropReasoning(messages, at)
  const body = messages && writeBody(responsesRequest(messages, model, reasons), at)
  if (!body) return refuse('bad_request', { faults: at.findings.faults })
  return {
    body,
    dropped: [...at.findings.dropped],
    response: json => messagesResponse(json, tag),
    failure: messagesError,
    events: () => new MessageEventsOfResponse(tag),
  }
}

const display = words<boolean>({ summarized: true, omitted: false })

/** Adaptive thinking has a level of effort in place of a budget, or none of both. */
const thinking = variants('type', {
  disabled: map(record({ type: text }, {}), () => null),
  enabled: map(
    record({ type: text, budget_tokens: whole(1) }, { display }),
    ({ budget_tokens: budget, display: isShown = true }) => ({ effort: effortOf(budget), isShown }),
  ),
  adaptive: map(record({ type: text }, { display }), ({ display: isShown = true }) => ({
    effort: undefined,
    isShown,
  })),
  between_tools: map(record({ type: text }, {}), () => ({ effort: undefined, isShown: true })),
})

const messagesRequest = map(
  record(
    { model: anything, max_tokens: whole(1), messages: inputItems },
    { ...messagesMembers, system: instructions, stop_sequences: off([]), thinking },
  ),
  refuseChoiceWithoutTools,
)

type MessagesRequest = NonNullable<ReturnType<typeof messagesRequest>>

/** Models without levels of effort refuse these members. */
function dropReasoning({ output_config: output, thinking }: MessagesRequest, at: Place): void {
  if (output?.effort !== undefined) at.step('output_config').step('effort').drop()
  if (thinking) at.step('thinking').drop()
}

function responsesRequest(request: MessagesRequest, model: string, reasons: boolean) {
  const { tools = [], tool_choice: choice, output_config: output, thinking } = request
  const hasTools = tools.length > 0
  const format = output?.format
  const isThinking = reasons && thinking != null
  return {
    model,
    instructions: request.system || undefined,
    input: request.messages,
    max_output_tokens: Math.max(minLimit, request.max_tokens),
    temperature: unlessUsual(request.temperature),
    top_p: unlessUsual(request.top_p),
    stream: request.stream,
    tools: hasTools ? tools.map(toolOf) : undefined,
    tool_choice: hasTools && choice ? choiceOf(choice.word) : undefined,
    parallel_tool_calls: hasTools && choice?.disable_parallel_tool_use ? false : undefined,
    text: format && { format: { type: format.type, ...format.json_schema } },
    reasoning: reasons ? reasoningOf(output?.effort ?? thinking?.effort, thinking?.isShown) : undefined,
    // The caller gets its reasoning back from no other place.
    include: isThinking ? ['reasoning.encrypted_content'] : undefined,
    service_tier: request.service_tier,
    user: userOf(request.metadata?.user_id),
    store: false,
  }
}

/** OpenAI's API refuses a lower one. */
const minLimit = 16

/** 1 is the default of both APIs; models that reason refuse any value but that. */
function unlessUsual(value: number | undefined): number | undefined {
  return value === 1 ? undefined : value
}

type Tool = NonNullable<MessagesRequest['tools']>[number]

/** Without `strict`, the schema would be changed to a strict one. */
function toolOf({ type, function: tool }: Tool) {
  return { type, ...tool, strict: tool.strict ?? false }
}

type Choice = NonNullable<MessagesRequest['tool_choice']>['word']

function choiceOf(word: Choice) {
  return typeof word === 'string' ? word : { type: word.type, name: word.function.name }
}

function reasoningOf(effort: string | undefined, isShown = false) {
  return effort === undefined && !isShown
    ? undefined
    : { effort, summary: isShown ? ('auto' as const) : undefined }
}

/** Claude Code has budgets of 4,000, 10,000 and 31,999 tokens. */
function effortOf(budget: number): 'low' | 'medium' | 'high' {
  if (budget < 8_000) return 'low'
  return budget < 20_000 ? 'medium' : 'high'
}
