// Translates a whole response of Messages into a chat completion.

import { type JsonObject, objectIn, objectsIn, readObject, textIn } from './json.ts'
import { chatUsage, countsOfMessages, finishReason } from './outcome.ts'

/** Turns a message into a chat completion; null for anything else. Thinking is dropped: chat has no place for it. */
export function chatResponse(json: string, now: number): string | null {
  const message = readObject(json)
  if (message?.type !== 'message' || !Array.isArray(message.content)) return null
  return JSON.stringify(completionOf(message, now))
}

/** Returns the time of `created`, in seconds since the epoch. */
export function createdAt(now: number): number {
  return Math.floor(now / 1000)
}

/** Returns chat's name for the tier that served the call; nothing where it has none. */
export function chatServiceTier(usage: JsonObject): { service_tier?: 'default' | 'priority' } {
  if (usage.service_tier === 'standard') return { service_tier: 'default' }
  return usage.service_tier === 'priority' ? { service_tier: 'priority' } : {}
}

/** Returns the sentence that explains a refusal; null where there is none. */
export function refusalOf(ending: JsonObject): string | null {
  return textIn(objectIn(ending.stop_details).explanation) || null
}

function completionOf(message: JsonObject, now: number) {
  const usage = objectIn(message.usage)
  return {
    id: textIn(message.id),
    object: 'chat.completion' as const,
    created: createdAt(now),
    model: textIn(message.model),
    choices: [
      {
        index: 0,
        message: assistantMessage(message),
        logprobs: null,
        finish_reason: finishReason(message.stop_reason),
      },
    ],
    usage: chatUsage(countsOfMessages(usage)),
    ...chatServiceTier(usage),
  }
}

function assistantMessage(message: JsonObject) {
  const blocks = objectsIn(message.content)
  const texts = blocks.filter(({ type }) => type === 'text').map(block => textIn(block.text))
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(toolCall)
  return {
    role: 'assistant' as const,
    content: texts.length > 0 ? texts.join('') : null,
    refusal: refusalOf(message),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function toolCall(block: JsonObject) {
  return {
    id: textIn(block.id),
    type: 'function' as const,
    function: { name: textIn(block.name), arguments: JSON.stringify(block.input ?? {}) },
  }
}
