// Translates a whole chat completion into a response of Messages.

import { argumentsText, CallIds } from './calls.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from './json.ts'
import { inputOf, message, refusalDetails, textBlock, toolUse } from './messages/message-parts.ts'
import { countsOfChat, stopReason } from './outcome.ts'
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

/** The older form of a single call counts as one. */
export function callsIn(calls: unknown, single: unknown): readonly JsonObject[] {
  const listedCalls = objectsIn(calls)
  return listedCalls.length === 0 && isObject(single) ? [{ index: 0, function: single }] : listedCalls
}

function messageOf(completion: JsonObject, choice: JsonObject) {
  const assistantMessage = objectIn(choice.message)
  const refusal = textIn(assistantMessage.refusal)
  const texts = [contentText(assistantMessage.content), refusal].filter(text => text !== '').map(textBlock)
  const ids = new CallIds()
  const calls = callsIn(assistantMessage.tool_calls, assistantMessage.function_call).map(call => {
    const { name, arguments: value } = objectIn(call.function)
    return toolUse(ids.take(call.id), textIn(name), inputOf(argumentsText(value)))
  })
  // A call without a name cannot be run.
  if (calls.some(({ name }) => name === '')) return null
  const ending = { isRefusal: refusal !== '', hasToolUse: calls.length > 0 }
  const reason = stopReason(choice.finish_reason, ending)
  const counts = countsOfChat(objectIn(completion.usage))
  return { ...message(completion, counts, [...texts, ...calls], reason), ...refusalDetails(refusal) }
}

/** Some providers give content as parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsIn(content)
    .map(part => textIn(part.text))
    .join('')
}
