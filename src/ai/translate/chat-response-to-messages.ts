// Translates a whole chat completion into a response of Messages.

import { argumentsText, CallIds } from './calls.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from './json.ts'
import { countsOfChat, messagesUsage, stopReason } from './outcome.ts'
import { isObject } from './rules.ts'

/** Uses the first choice only; null for anything but a chat completion. */
export function messagesResponse(json: string): string | null {
  const completion = readObject(json)
  const choice = firstChoice(completion?.choices)
  if (!completion || !choice) return null
  const translated = messageOf(completion, choice)
  return translated && JSON.stringify(translated)
}

export function firstChoice(choices: unknown): JsonObject | undefined {
  return objectsIn(choices).find(({ index = 0 }) => index === 0)
}

/** A stream starts with only the beginning of its message. */
export function message(completion: JsonObject, content: readonly JsonObject[], reason: string | null) {
  const usage = objectIn(completion.usage)
  return {
    id: textIn(completion.id),
    type: 'message' as const,
    role: 'assistant' as const,
    model: textIn(completion.model),
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { ...messagesUsage(countsOfChat(usage)), service_tier: serviceTier(completion.service_tier) },
  }
}

export function refusalDetails(explanation: string): { readonly stop_details?: JsonObject } {
  return explanation === '' ? {} : { stop_details: { type: 'refusal', category: null, explanation } }
}

export function toolUse(id: string, name: string, input: unknown) {
  return { type: 'tool_use' as const, id, name, input }
}

/** The older form of a single call counts as one. */
export function callsIn(calls: unknown, single: unknown): readonly JsonObject[] {
  const found = objectsIn(calls)
  return found.length === 0 && isObject(single) ? [{ index: 0, function: single }] : found
}

export function textBlock(text: string) {
  return { type: 'text' as const, text }
}

function messageOf(completion: JsonObject, choice: JsonObject) {
  const said = objectIn(choice.message)
  const refusal = textIn(said.refusal)
  const texts = [contentText(said.content), refusal].filter(text => text !== '').map(textBlock)
  const ids = new CallIds()
  const calls = callsIn(said.tool_calls, said.function_call).map(call => {
    const { name, arguments: value } = objectIn(call.function)
    return toolUse(ids.take(call.id), textIn(name), inputOf(argumentsText(value)))
  })
  // A call without a name cannot be run.
  if (calls.some(({ name }) => name === '')) return null
  const ending = { isRefusal: refusal !== '', hasToolUse: calls.length > 0 }
  const reason = stopReason(choice.finish_reason, ending)
  return { ...message(completion, [...texts, ...calls], reason), ...refusalDetails(refusal) }
}

/** Some providers give content as parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsIn(content)
    .map(part => textIn(part.text))
    .join('')
}

/** Truncated text stays as it is: an empty object in its place would run the tool. */
function inputOf(json: string): unknown {
  return json === '' ? {} : (readObject(json) ?? json)
}

function serviceTier(tier: unknown): 'standard' | 'priority' | undefined {
  if (tier === 'default') return 'standard'
  return tier === 'priority' ? 'priority' : undefined
}
