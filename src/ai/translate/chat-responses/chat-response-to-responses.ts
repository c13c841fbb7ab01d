// Translates a whole chat completion into a response of Responses.

import { argumentsText, CallIds } from '../calls.ts'
import { callsIn, contentText, firstChoice } from '../chat-response-to-messages.ts'
import { type JsonObject, objectIn, readObject, textIn } from '../json.ts'
import { countsOfChat, incompleteReason } from '../outcome.ts'
import { ResponseWriter } from '../responses/response-writer.ts'
import { inputFor, type ToolNames } from '../responses/responses-tools.ts'

export interface ChatResponseOptions {
  readonly names: ToolNames
  readonly settings: JsonObject
  readonly now: () => number
}

/** Uses the first choice only; null for anything but a chat completion. */
export function responseOfChat(json: string, { names, settings, now }: ChatResponseOptions): string | null {
  const completion = readObject(json)
  const choice = firstChoice(completion?.choices)
  if (!completion || !choice) return null
  const message = objectIn(choice.message)
  const writer = new ResponseWriter(settings, now(), false)
  writer.start(completion)
  writer.say(contentText(message.content))
  writer.refuse(textIn(message.refusal))
  const reason = incompleteReason(choice.finish_reason)
  const ids = new CallIds()
  for (const { id, function: called } of callsIn(message.tool_calls, message.function_call)) {
    const { name, arguments: value } = objectIn(called)
    // A call without a name cannot be run.
    if (textIn(name) === '') return null
    const tool = names.toolOf(textIn(name))
    const call = writer.call(ids.take(id), tool)
    call.add(inputFor(tool, argumentsText(value)))
    if (reason === null || readObject(argumentsText(value)) !== null) call.close()
  }
  writer.finish({ reason, counts: countsOfChat(objectIn(completion.usage)), ...tierOf(completion) }, now())
  return JSON.stringify(writer.response)
}

export function tierOf({ service_tier: tier }: JsonObject): { readonly serviceTier?: string } {
  return textIn(tier) === '' ? {} : { serviceTier: textIn(tier) }
}
