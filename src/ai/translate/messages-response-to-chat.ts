// Translates a whole response of Messages into a chat completion.

import { argumentsText, CallIds } from './calls.ts'
import { createdAt } from './chat/chunk-writer.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from './json.ts'
import { chatUsage, countsOfMessages, finishReason } from './outcome.ts'

/** Null for anything but a message. `asFunction` writes a call in the older shape, with room for one. */
export function chatResponse(json: string, now: number, { asFunction = false } = {}): string | null {
  const message = readObject(json)
  if (message?.type !== 'message' || !Array.isArray(message.content)) return null
  const calls = callsOf(message.content)
  // A call without a name cannot be run.
  if (calls.some(call => call.function.name === '')) return null
  if (asFunction && calls.length > 1) return null
  return JSON.stringify(completionOf(message, calls, now, asFunction))
}

export function chatServiceTier(usage: JsonObject): { service_tier?: 'default' | 'priority' } {
  if (usage.service_tier === 'standard') return { service_tier: 'default' }
  return usage.service_tier === 'priority' ? { service_tier: 'priority' } : {}
}

export function refusalOf(ending: JsonObject): string | null {
  return textIn(objectIn(ending.stop_details).explanation) || null
}

function completionOf(message: JsonObject, calls: readonly Call[], now: number, asFunction: boolean) {
  const usage = objectIn(message.usage)
  return {
    id: textIn(message.id),
    object: 'chat.completion' as const,
    created: createdAt(now),
    model: textIn(message.model),
    choices: [
      {
        index: 0,
        message: assistantMessage(message, calls, asFunction),
        logprobs: null,
        finish_reason: finishReason(message.stop_reason, asFunction),
      },
    ],
    usage: chatUsage(countsOfMessages(usage)),
    ...chatServiceTier(usage),
  }
}

function assistantMessage(message: JsonObject, calls: readonly Call[], asFunction: boolean) {
  const blocks = objectsIn(message.content)
  const texts = blocks.filter(({ type }) => type === 'text').map(block => textIn(block.text))
  return {
    role: 'assistant' as const,
    content: texts.length > 0 ? texts.join('') : null,
    refusal: refusalOf(message),
    ...(calls.length > 0 && (asFunction ? { function_call: calls[0]!.function } : { tool_calls: calls })),
  }
}

type Call = ReturnType<typeof callsOf>[number]

function callsOf(content: readonly unknown[]) {
  const ids = new CallIds()
  const uses = objectsIn(content).filter(({ type }) => type === 'tool_use')
  return uses.map(({ id, name, input }) => ({
    id: ids.take(id),
    type: 'function' as const,
    function: { name: textIn(name), arguments: argumentsText(input) || '{}' },
  }))
}
