// Reads the input of a Responses request into the items that every API has.

import type { Place } from '../place.ts'
import {
  anything,
  dropped,
  list,
  map,
  never,
  object,
  off,
  record,
  type Rule,
  text,
  textOr,
  variants,
  words,
} from '../rules.ts'
import {
  argumentsOf,
  type CallerTool,
  type FunctionTool,
  functionName,
  responsesTools,
} from './responses-tools.ts'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}
interface ImagePart {
  readonly type: 'image'
  readonly url: string
  readonly detail: 'low' | 'high' | undefined
  readonly at: Place
}
interface FilePart {
  readonly type: 'file'
  /** A data URL. */
  readonly data: string
  readonly name: string | undefined
  readonly at: Place
}
export type InputPart = TextPart | ImagePart | FilePart

export type InputItem<R> =
  | { readonly kind: 'system' | 'assistant'; readonly parts: readonly TextPart[] }
  | { readonly kind: 'user'; readonly parts: readonly InputPart[] }
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly kind: 'result'; readonly id: string; readonly parts: readonly InputPart[] }
  /** Tools that the calls after it may use. */
  | { readonly kind: 'tools'; readonly tools: readonly FunctionTool[] }
  | { readonly kind: 'reasoning'; readonly reasoning: R }

const cachePoint = { prompt_cache_breakpoint: dropped }
const unstored = never('send its content: the gateway stores nothing')

const textPart = map(
  record({ type: text, text }, { ...cachePoint, annotations: anything, logprobs: anything }),
  ({ text }): TextPart => ({ type: 'text', text }),
)

const refusal = map(
  record({ type: text, refusal: text }, {}),
  ({ refusal }): TextPart => ({ type: 'text', text: refusal }),
)

const inputImage = map(
  record(
    { type: text, image_url: text },
    {
      ...cachePoint,
      file_id: unstored,
      detail: words({ auto: undefined, low: 'low', high: 'high', original: 'high' } as const),
    },
  ),
  ({ image_url: url, detail }, at): ImagePart => ({ type: 'image', url, detail, at }),
)

const inputFile = map(
  record(
    { type: text, file_data: text },
    { ...cachePoint, file_id: unstored, file_url: unstored, filename: text, detail: anything },
  ),
  ({ file_data: data, filename: name }, at): FilePart => ({ type: 'file', data, name, at }),
)

function content<P>(parts: Rule<P>): Rule<readonly (P | TextPart)[]> {
  return map(textOr(list(parts)), content =>
    typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content,
  )
}

const shown = content(
  variants('type', { input_text: textPart, input_image: inputImage, input_file: inputFile }),
)
const written = content(variants('type', { input_text: textPart, output_text: textPart, refusal }))

/** Members of an item that only the API that created it reads. */
const common = { id: anything, status: anything }

const spoken = { ...common, type: text, phase: anything }
const system = map(
  record({ role: text, content: content(variants('type', { input_text: textPart })) }, spoken),
  ({ content }) => ({
    kind: 'system' as const,
    parts: content,
  }),
)

const message = variants('role', {
  system,
  developer: system,
  user: map(record({ role: text, content: shown }, spoken), ({ content }) => ({
    kind: 'user' as const,
    parts: content,
  })),
  assistant: map(record({ role: text, content: written }, spoken), ({ content }) => ({
    kind: 'assistant' as const,
    parts: content,
  })),
})

const direct = { caller: variants('type', { direct: record({ type: text }, {}) }) }

function callItem(id: string, tool: CallerTool, input: string) {
  return { kind: 'call' as const, id, name: functionName(tool), arguments: argumentsOf(tool, input) }
}

const functionCall = map(
  record(
    { type: text, call_id: text, name: text, arguments: text },
    { ...common, ...direct, namespace: text, async: off(false) },
  ),
  ({ call_id, name, namespace, arguments: input }) =>
    callItem(call_id, { type: 'function', name, namespace }, input),
)

const customCall = map(
  record(
    { type: text, call_id: text, name: text, input: text },
    { ...common, ...direct, namespace: text, async: off(false) },
  ),
  ({ call_id, name, namespace, input }) => callItem(call_id, { type: 'custom', name, namespace }, input),
)

const searchCall = map(
  record({ type: text, call_id: text, arguments: anything }, { ...common, execution: anything }),
  ({ call_id, arguments: input }) =>
    callItem(call_id, { type: 'tool_search', name: 'tool_search' }, JSON.stringify(input)),
)

const shellCall = map(
  record({ type: text, call_id: text, action: object }, common),
  ({ call_id, action: { type: _, env: __, ...action } }) =>
    callItem(call_id, { type: 'local_shell', name: 'local_shell' }, JSON.stringify(action)),
)

/** Its call has one id for both. */
const shellResult = map(
  record({ type: text, output: shown }, { ...common, id: text, call_id: text }),
  ({ call_id, id, output }, at) =>
    (call_id ?? id) === undefined
      ? at.step('call_id').fault('is missing')
      : { kind: 'result' as const, id: (call_id ?? id)!, parts: output },
)

const result = map(
  record({ type: text, call_id: text, output: shown }, { ...common, ...direct, name: text, namespace: text }),
  ({ call_id: id, output }) => ({ kind: 'result' as const, id, parts: output }),
)

const searchResult = map(
  record({ type: text, call_id: text, tools: responsesTools }, { ...common, execution: anything }),
  ({ call_id: id, tools }) => {
    const names = tools.map(({ name }) => name).join(', ')
    const parts: readonly TextPart[] = [
      { type: 'text', text: `Tools that you can call now: ${names || 'none'}` },
    ]
    return [
      { kind: 'tools' as const, tools },
      { kind: 'result' as const, id, parts },
    ]
  },
)

const additionalTools = map(
  record({ type: text, tools: responsesTools }, { id: anything, role: text }),
  ({ tools }) => ({
    kind: 'tools' as const,
    tools,
  }),
)

const left = (value: unknown, at: Place) => {
  at.step((value as { type: string }).type).drop()
  return []
}

/** `reasoning` reads an item of reasoning; undefined leaves it out. */
export function responsesInput<R>(reasoning: Rule<R>): Rule<readonly InputItem<R>[]> {
  const item = variants(
    'type',
    {
      message,
      function_call: functionCall,
      function_call_output: result,
      custom_tool_call: customCall,
      custom_tool_call_output: result,
      tool_search_call: searchCall,
      tool_search_output: searchResult,
      local_shell_call: shellCall,
      local_shell_call_output: shellResult,
      additional_tools: additionalTools,
      reasoning: (value: unknown, at: Place) => {
        const read = reasoning(value, at)
        return read === undefined ? [] : { kind: 'reasoning' as const, reasoning: read }
      },
      // What a provider's own tools did; its text refers to what they found.
      web_search_call: left,
      image_generation_call: left,
      item_reference: never('send the item itself, as SDKs do with store: false'),
    },
    'message',
  )
  return map(textOr(list(item)), input =>
    typeof input === 'string'
      ? [{ kind: 'user' as const, parts: [{ type: 'text' as const, text: input }] }]
      : (input.flat() as readonly InputItem<R>[]),
  )
}
