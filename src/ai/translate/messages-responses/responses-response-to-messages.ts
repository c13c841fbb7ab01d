// Translates a whole response of Responses into one of Messages.

import { argumentsText, CallIds } from '../calls.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from '../json.ts'
import { inputOf, message, refusalDetails, textBlock, toolUse } from '../messages/message-parts.ts'
import { countsOfResponses } from '../outcome.ts'
import { pack } from '../packed-reasoning.ts'

/** Null for anything but a response that ended without a failure. */
export function messagesResponse(json: string, tag: string): string | null {
  const response = readObject(json)
  if (!Array.isArray(response?.output) || !endings.has(response.status)) return null
  const ids = new CallIds()
  const items = objectsIn(response.output)
  const content = items.flatMap(item => blocksOf(item, tag, ids))
  // A call without a name cannot be run.
  if (content.some(block => block.type === 'tool_use' && block.name === '')) return null
  const refusal = items
    .flatMap(partsOf)
    .map(({ refusal }) => textIn(refusal))
    .join('')
  const hasToolUse = content.some(({ type }) => type === 'tool_use')
  const reason = stopReasonOf(response, { isRefusal: refusal !== '', hasToolUse })
  const counts = countsOfResponses(objectIn(response.usage))
  return JSON.stringify({ ...message(response, counts, content, reason), ...refusalDetails(refusal) })
}

export function stopReasonOf(
  { incomplete_details: details }: JsonObject,
  { isRefusal, hasToolUse }: { readonly isRefusal: boolean; readonly hasToolUse: boolean },
) {
  const { reason } = objectIn(details)
  if (isRefusal || reason === 'content_filter') return 'refusal'
  if (textIn(reason) !== '') return 'max_tokens'
  return hasToolUse ? 'tool_use' : 'end_turn'
}

/** What the caller sends back for its provider: the tag alone if that would not accept the reasoning. */
export function packedReasoning({ type, id, summary, content, ...item }: JsonObject, tag: string): string {
  const { encrypted_content, status } = item
  const isComplete = textIn(encrypted_content) !== '' || objectsIn(content).length > 0
  return isComplete ? pack(tag, { type, id, summary, content, encrypted_content, status }) : tag
}

export function thinkingText({ summary, content }: JsonObject): string {
  const [summaries, texts] = [objectsIn(summary), objectsIn(content)]
  return (summaries.length > 0 ? summaries : texts).map(({ text }) => textIn(text)).join(paragraphs)
}

export const paragraphs = '\n\n'

/** The parts of an item that is a message; none for any other. */
export function partsOf({ type, content }: JsonObject): readonly JsonObject[] {
  return type === 'message' ? objectsIn(content) : []
}

/** Of a text, or a refusal. */
export function textOfPart({ type, text, refusal }: JsonObject): string {
  return textIn(type === 'refusal' ? refusal : text)
}

/** Items of tools that the provider runs itself are skipped: the request has none. */
function blocksOf(item: JsonObject, tag: string, ids: CallIds): readonly JsonObject[] {
  if (item.type === 'reasoning') return thinkingBlocks(item, tag)
  if (item.type === 'function_call') {
    const { call_id, name, arguments: value } = item
    return [toolUse(ids.take(call_id), textIn(name), inputOf(argumentsText(value)))]
  }
  return partsOf(item)
    .map(textOfPart)
    .filter(text => text !== '')
    .map(textBlock)
}

function thinkingBlocks(item: JsonObject, tag: string): readonly JsonObject[] {
  const [thinking, packed] = [thinkingText(item), packedReasoning(item, tag)]
  if (thinking !== '') return [{ type: 'thinking', thinking, signature: packed }]
  return packed === tag ? [] : [redactedThinking(packed)]
}

export function redactedThinking(data: string) {
  return { type: 'redacted_thinking', data }
}

const endings: ReadonlySet<unknown> = new Set(['completed', 'incomplete', undefined])
