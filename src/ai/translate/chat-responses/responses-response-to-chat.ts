// Translates a whole response of Responses into a chat completion.

import { argumentsText, CallIds } from '../calls.ts'
import { createdAt } from '../chat/chunk-writer.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from '../json.ts'
import { chatUsage, countsOfResponses } from '../outcome.ts'

/**
 * Null for anything but a response that ended without a failure. `asFunction` writes a call in the older
 * shape, with room for one.
 */
export function chatOfResponse(json: string, now: number, asFunction: boolean): string | null {
  const response = readObject(json)
  if (!Array.isArray(response?.output) || !endings.has(response.status)) return null
  const items = objectsIn(response.output)
  const ids = new CallIds()
  const calls = items.filter(({ type }) => callTypes.has(type)).map(item => callOf(item, ids))
  // A call without a name cannot be run.
  if (calls.includes(null) || (asFunction && calls.length > 1)) return null
  const parts = items.flatMap(({ type, content }) => (type === 'message' ? objectsIn(content) : []))
  const message = {
    role: 'assistant' as const,
    content: textOf(parts, 'output_text', 'text'),
    refusal: textOf(parts, 'refusal', 'refusal'),
    ...(calls.length > 0 && (asFunction ? { function_call: calls[0]!.function } : { tool_calls: calls })),
  }
  const finish_reason = finishReasonOf(response, calls.length > 0, asFunction)
  return JSON.stringify({
    id: textIn(response.id),
    object: 'chat.completion',
    created: createdAt(now),
    model: textIn(response.model),
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: chatUsage(countsOfResponses(objectIn(response.usage))),
    ...serviceTierOf(response),
  })
}

export function finishReasonOf(
  { incomplete_details: details }: JsonObject,
  hasCalls: boolean,
  asFunction: boolean,
): string {
  const reason = textIn(objectIn(details).reason)
  if (reason === 'content_filter') return 'content_filter'
  if (reason !== '') return 'length'
  if (!hasCalls) return 'stop'
  return asFunction ? 'function_call' : 'tool_calls'
}

export function serviceTierOf({ service_tier: tier }: JsonObject): { readonly service_tier?: string } {
  return textIn(tier) === '' ? {} : { service_tier: textIn(tier) }
}

/** Items of tools that the provider runs itself are skipped: the request has none. */
export const callTypes: ReadonlySet<unknown> = new Set(['function_call', 'custom_tool_call'])

interface ChatCall {
  readonly id: string
  readonly type: 'function' | 'custom'
  readonly function?: { readonly name: string; readonly arguments: string }
  readonly custom?: { readonly name: string; readonly input: string }
}

function callOf(
  { type, call_id, name: rawName, input, arguments: value }: JsonObject,
  ids: CallIds,
): ChatCall | null {
  const name = textIn(rawName)
  if (name === '') return null
  const id = ids.take(call_id)
  return type === 'custom_tool_call'
    ? { id, type: 'custom', custom: { name, input: textIn(input) } }
    : { id, type: 'function', function: { name, arguments: argumentsText(value) || '{}' } }
}

function textOf(parts: readonly JsonObject[], type: string, member: string): string | null {
  const texts = parts.filter(part => part.type === type).map(part => textIn(part[member]))
  return texts.length > 0 ? texts.join('') : null
}

const endings: ReadonlySet<unknown> = new Set(['completed', 'incomplete', undefined])
