// The parts of a response of Messages, whatever it is translated from.

import { type JsonObject, readObject, textIn } from '../json.ts'
import { messagesUsage, type TokenCounts } from '../outcome.ts'

/** A chat completion, or a response of the Responses API. */
interface Original {
  readonly id?: unknown
  readonly model?: unknown
  readonly service_tier?: unknown
}

/** A stream starts with only the beginning of its message. */
export function message(
  { id, model, service_tier: tier }: Original,
  counts: TokenCounts,
  content: readonly JsonObject[],
  reason: string | null,
) {
  return {
    id: textIn(id),
    type: 'message' as const,
    role: 'assistant' as const,
    model: textIn(model),
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage: { ...messagesUsage(counts), service_tier: serviceTier(tier) },
  }
}

export function refusalDetails(explanation: string): { readonly stop_details?: JsonObject } {
  return explanation === '' ? {} : { stop_details: { type: 'refusal', category: null, explanation } }
}

export function textBlock(text: string) {
  return { type: 'text' as const, text }
}

export function toolUse(id: string, name: string, input: unknown) {
  return { type: 'tool_use' as const, id, name, input }
}

/** Truncated text stays as it is: an empty object in its place would run the tool. */
export function inputOf(json: string): unknown {
  return json === '' ? {} : (readObject(json) ?? json)
}

export function messageEvent(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function serviceTier(tier: unknown): 'standard' | 'priority' | undefined {
  if (tier === 'default') return 'standard'
  return tier === 'priority' ? 'priority' : undefined
}
