// The blocks of a Messages request that both APIs of OpenAI have too.

import { urlOfSource } from '../images.ts'
import type { Place } from '../place.ts'
import { dropped, isObject, list, map, off, record, text, textOr, variants } from '../rules.ts'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}
export type ImagePart = { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
export type ToolCall = {
  readonly type: 'function'
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

export const textBlock = map(
  record({ type: text, text }, { cache_control: dropped, citations: off([]) }),
  (block): TextPart => ({ type: 'text', text: block.text }),
)

export const textContent = textOr(list(variants('type', { text: textBlock })))

export const imageBlock = map(
  record({ type: text, source: urlOfSource }, { cache_control: dropped, transformations: off({}) }),
  ({ source }): ImagePart => ({ type: 'image_url', image_url: { url: source } }),
)

/** What a search for tools returns: they are there from the beginning. */
export const toolReference = map(
  record({ type: text, tool_name: text }, { cache_control: dropped }),
  ({ tool_name }): TextPart => ({ type: 'text', text: `You can call the tool ${tool_name}.` }),
)

/** Of a turn of the system; effort applies to the whole request in other APIs. */
export const systemMembers = { output_config: dropped } as const

export const toolUse = map(
  record(
    { type: text, id: text, name: text, input: toolInput },
    {
      cache_control: dropped,
      caller: variants('type', { direct: record({ type: text }, {}) }),
      toolset_name: off(),
    },
  ),
  ({ id, name, input }): ToolCall => ({ type: 'function', id, function: { name, arguments: input } }),
)

/** As Messages does: OpenAI requires tool results right after the calls. */
export function refuseLateResults(isResult: readonly boolean[], at: Place): void {
  const first = isResult.indexOf(false)
  isResult.forEach((isLate, index) => {
    if (first !== -1 && index > first && isLate) at.step(index).fault('must come before other content')
  })
}

/** A string stays as it is, since a model of OpenAI wrote it and it was not a JSON object. */
function toolInput(value: unknown, at: Place): string | undefined {
  if (typeof value === 'string') return value
  if (!isObject(value)) return at.fault('must be an object')
  return JSON.stringify(value)
}
