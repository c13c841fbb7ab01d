// Translates a whole response of Messages into one of Responses.

import { argumentsText, CallIds } from '../calls.ts'
import { type JsonObject, objectIn, objectsIn, readObject, textIn } from '../json.ts'
import { chatServiceTier, refusalOf } from '../messages-response-to-chat.ts'
import { countsOfMessages, finishReason, incompleteReason } from '../outcome.ts'
import { pack } from '../packed-reasoning.ts'
import { ResponseWriter } from '../responses/response-writer.ts'
import { inputFor, type ToolNames } from '../responses/responses-tools.ts'

export interface ResponseOptions {
  readonly names: ToolNames
  readonly settings: JsonObject
  /** Marks reasoning as that of the provider. */
  readonly tag: string
  readonly now: () => number
}

/** Null for anything but a message. */
export function responseOfMessages(
  json: string,
  { names, settings, tag, now }: ResponseOptions,
): string | null {
  const message = readObject(json)
  if (message?.type !== 'message' || !Array.isArray(message.content)) return null
  const writer = new ResponseWriter(settings, now(), false)
  writer.start(message)
  const ids = new CallIds()
  for (const block of objectsIn(message.content)) {
    if (block.type === 'text') writer.say(textIn(block.text))
    else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      writer.think(textIn(block.thinking))
      writer.seal(packedThinking(block, tag))
    } else if (block.type === 'tool_use') {
      // A call without a name cannot be run.
      if (textIn(block.name) === '') return null
      const tool = names.toolOf(textIn(block.name))
      const call = writer.call(ids.take(block.id), tool)
      call.add(inputFor(tool, argumentsText(block.input)))
      call.close()
    }
  }
  finish(writer, message, objectIn(message.usage), now())
  return JSON.stringify(writer.response)
}

export function packedThinking({ type, thinking, signature, data }: JsonObject, tag: string): string {
  return pack(tag, type === 'thinking' ? { type, thinking, signature } : { type, data })
}

/** `ending` has the reason to stop. */
export function finish(writer: ResponseWriter, ending: JsonObject, usage: JsonObject, now: number): void {
  writer.refuse(refusalOf(ending) ?? '')
  const reason = incompleteReason(finishReason(ending.stop_reason))
  const serviceTier = chatServiceTier(usage).service_tier
  writer.finish({ reason, counts: countsOfMessages(usage), serviceTier }, now)
}
