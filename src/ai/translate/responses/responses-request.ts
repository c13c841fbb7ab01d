// Reads the members of a Responses request that mean the same for every API behind it.

import {
  anything,
  dropped,
  droppedUnless,
  list,
  map,
  never,
  number,
  object,
  off,
  record,
  type Rule,
  text,
  truth,
  variants,
  whole,
  words,
} from '../rules.ts'
import { type FunctionTool, responsesToolChoice, responsesTools, type ToolChoice } from './responses-tools.ts'

/** A schema that the text must follow; null for any JSON object. */
export interface TextFormat {
  readonly name: string
  readonly schema: object
  readonly strict: boolean | undefined
  readonly description: string | undefined
}

const format = variants('type', {
  text: map(record({ type: text }, {}), () => undefined),
  json_object: map(record({ type: text }, {}), () => null),
  json_schema: map(
    record({ type: text, name: text, schema: object }, { description: text, strict: truth }),
    ({ name, schema, strict, description }): TextFormat => ({ name, schema, strict, description }),
  ),
})

const effort = words({
  none: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
} as const)

const unstored = never('send the whole conversation in input, since the gateway stores nothing')

/** What a response can include: ciphertext comes anyway, and hosted tools are not run. */
const included: Rule<never> = (value, at) => {
  if (value === 'reasoning.encrypted_content') return undefined
  return value === 'message.output_text.logprobs' ? at.untranslatable() : at.drop()
}

const store: Rule<never> = (value, at) =>
  value === false ? undefined : at.fault('must be false or left out, since the gateway stores nothing')

export const responsesMembers = {
  instructions: text,
  max_output_tokens: whole(1),
  top_p: number(0, 1),
  stream: truth,
  tools: responsesTools,
  tool_choice: responsesToolChoice,
  parallel_tool_calls: truth,
  text: record({}, { format, verbosity: droppedUnless('medium') }),
  reasoning: record(
    {},
    {
      effort,
      summary: anything,
      generate_summary: anything,
      context: dropped,
      mode: droppedUnless('standard'),
    },
  ),
  user: text,
  safety_identifier: text,
  // The response repeats them.
  include: list(included),
  metadata: droppedUnless({}),
  store,
  stream_options: record({}, { include_obfuscation: droppedUnless(false) }),
  // Hints, or settings of hosted tools.
  client_metadata: droppedUnless({}),
  context_management: droppedUnless([]),
  max_tool_calls: dropped,
  prompt_cache_key: droppedUnless(''),
  prompt_cache_options: droppedUnless({}),
  prompt_cache_retention: dropped,
  truncation: droppedUnless('disabled'),
  access_programs: droppedUnless({}),
  image: droppedUnless({}),
  // Only with a value that changes nothing.
  background: map(off(false), () => undefined),
  conversation: unstored,
  previous_response_id: unstored,
  prompt: never('send its text, since the gateway stores no prompts'),
  top_logprobs: off(0),
  moderation: off(),
} as const

/** The functions that a model may call, and whether it must. */
export function functionsFor(
  functions: readonly FunctionTool[],
  choice: ToolChoice | undefined,
): readonly FunctionTool[] {
  const byName = new Map(functions.map(tool => [tool.name, tool]))
  const tools = [...byName.values()]
  return choice?.only === undefined ? tools : tools.filter(({ name }) => choice.only!.includes(name))
}
