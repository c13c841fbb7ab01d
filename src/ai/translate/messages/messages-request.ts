// What a Messages request says in members that are the same in both APIs of OpenAI, but for their shape.

import { createHash } from 'node:crypto'
import type { Place } from '../place.ts'
import {
  dropped,
  list,
  map,
  never,
  number,
  object,
  off,
  record,
  text,
  truth,
  variants,
  words,
} from '../rules.ts'
import { messagesTool, messagesToolChoice } from '../tools.ts'

/** OpenAI requires a name for each format. */
const outputFormat = variants('type', {
  json_schema: map(record({ type: text, schema: object }, {}), ({ schema }) => ({
    type: 'json_schema' as const,
    json_schema: { name: 'answer', strict: true, schema },
  })),
})

const effort = words({ low: 'low', medium: 'medium', high: 'high', xhigh: 'xhigh', max: 'max' } as const)

/** Leaves less thinking in the history, which changes the cost alone; other edits would change the input. */
const contextManagement = record({}, { edits: list(variants('type', { clear_thinking_20251015: dropped })) })

export const messagesMembers = {
  temperature: number(0, 1),
  top_p: number(0, 1),
  stream: truth,
  tools: list(messagesTool),
  tool_choice: messagesToolChoice,
  output_config: record({}, { format: outputFormat, effort }),
  service_tier: words({ auto: 'auto', standard_only: 'default' } as const),
  metadata: record({}, { user_id: text }),
  // Caching is a setting of providers.
  cache_control: dropped,
  context_management: contextManagement,
  diagnostics: dropped,
  // Only with a value that changes nothing.
  top_k: off(),
  container: off(),
  inference_geo: off(),
  mcp_servers: off([]),
  speed: off('standard'),
  thread: never('send the whole conversation, with thread: false in SDKs that keep threads'),
} as const

interface Tooled {
  readonly tools?: readonly unknown[] | undefined
  readonly tool_choice?: { readonly word: unknown } | undefined
}

export function refuseChoiceWithoutTools<M extends Tooled>(messages: M, at: Place): M {
  const demand = messages.tool_choice?.word ?? 'auto'
  if (!messages.tools?.length && demand !== 'auto' && demand !== 'none') {
    at.step('tool_choice').fault('must not require a tool when tools is missing')
  }
  return messages
}

/** A long name becomes its SHA-256 digest, which still distinguishes users. */
export function userOf(name: string | undefined): string | undefined {
  return name === undefined || name.length <= longestUser
    ? name
    : createHash('sha256').update(name).digest('hex')
}

/** As OpenAI accepts, and the length of the digest in hex. */
const longestUser = 64

/** Most providers refuse levels of effort for other models. */
export function hasEffort(model: string): boolean {
  const name = model.slice(model.lastIndexOf('/') + 1)
  return /^(?:o\d|gpt-(?:[5-9](?!.*-chat)|oss)|gemini-(?:2\.5|[3-9]))/.test(name)
}
