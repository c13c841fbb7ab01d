// Translates the conversation of a Chat Completions request into the input of Responses.

import type { Place } from '../place.ts'
import {
  anything,
  dropped,
  droppedUnless,
  list,
  map,
  never,
  off,
  record,
  type Rule,
  text,
  textOr,
  variants,
  words,
} from '../rules.ts'

interface TextPart {
  readonly type: 'input_text'
  readonly text: string
}
type InputPart =
  | TextPart
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: string }
  | {
      readonly type: 'input_file'
      readonly file_data: string | undefined
      readonly file_id: string | undefined
      readonly filename: string | undefined
    }
type Content = string | readonly InputPart[]

type Message = { readonly role: 'system' | 'developer' | 'user' | 'assistant'; readonly content: Content }
type FunctionCall = {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}
type CustomCall = {
  readonly type: 'custom_tool_call'
  readonly call_id: string
  readonly name: string
  readonly input: string
}
type Result = {
  readonly type: 'function_call_output' | 'custom_tool_call_output'
  readonly call_id: string
  readonly output: Content
}
type Item = Message | FunctionCall | CustomCall | Result

/** Of the older shape, which has no ids: the result is the next message of the role `function`. */
type OldCall = { readonly type: 'call'; readonly name: string; readonly arguments: string }
type OldResult = { readonly type: 'result'; readonly name: string; readonly output: Content }

const nameless = never('name the speaker in the content')
const cachePoints = { prompt_cache_breakpoint: dropped, cache_control: dropped }

const textPart = map(record({ type: text, text }, cachePoints), (part): TextPart => inputText(part.text))

const imagePart = map(
  record(
    {
      type: text,
      image_url: record(
        { url: text },
        { detail: words({ auto: 'auto', low: 'low', high: 'high', original: 'original' } as const) },
      ),
    },
    cachePoints,
  ),
  ({ image_url: { url, detail = 'auto' } }): InputPart => ({ type: 'input_image', image_url: url, detail }),
)

const filePart = map(
  record({ type: text, file: record({}, { file_data: text, file_id: text, filename: text }) }, cachePoints),
  ({ file: { file_data, file_id, filename } }): InputPart => ({
    type: 'input_file',
    file_data,
    file_id,
    filename,
  }),
)

const refusalPart = map(
  record({ type: text, refusal: text }, {}),
  ({ refusal }): TextPart => inputText(refusal),
)

const textContent = textOr(list(variants('type', { text: textPart })))
const shownContent = textOr(list(variants('type', { text: textPart, image_url: imagePart, file: filePart })))

const labels = { name: nameless, cache_control: dropped }

const systemMessage = (role: 'system' | 'developer') =>
  map(record({ role: text, content: textContent }, labels), ({ content }): readonly Item[] => [
    { role, content },
  ])

const userMessage = map(
  record({ role: text, content: shownContent }, labels),
  ({ content }): readonly Item[] => [{ role: 'user', content }],
)

const toolCall = variants('type', {
  function: map(
    record(
      { type: text, id: text, function: record({ name: text, arguments: text }, {}) },
      { index: anything },
    ),
    ({ id: call_id, function: called }): Item => ({ type: 'function_call', call_id, ...called }),
  ),
  custom: map(
    record({ type: text, id: text, custom: record({ name: text, input: text }, {}) }, { index: anything }),
    ({ id: call_id, custom: called }): Item => ({ type: 'custom_tool_call', call_id, ...called }),
  ),
})

const assistantMessage = map(
  record(
    { role: text },
    {
      ...labels,
      content: textOr(list(variants('type', { text: textPart, refusal: refusalPart }))),
      refusal: text,
      tool_calls: list(toolCall),
      function_call: record({ name: text, arguments: text }, {}),
      // Under the names of several providers: Responses accepts only what it has encrypted.
      reasoning: dropped,
      reasoning_content: dropped,
      reasoning_details: droppedUnless([]),
      annotations: off([]),
      audio: off(),
    },
  ),
  ({ content, refusal = '', tool_calls = [], function_call: call }, at): readonly (Item | OldCall)[] => {
    if (call !== undefined && tool_calls.length > 0)
      at.step('function_call').fault('cannot be combined with tool_calls')
    const text = textOfContent(content) + refusal
    const calls = call === undefined ? tool_calls : [{ type: 'call' as const, ...call }]
    if (text === '' && calls.length === 0 && content === undefined)
      at.fault('must have content or tool_calls')
    return text === '' && calls.length > 0 ? calls : [{ role: 'assistant', content: text }, ...calls]
  },
)

/** The call has the name of the tool already. */
const toolMessage = map(
  record({ role: text, tool_call_id: text, content: shownContent }, { name: text, cache_control: dropped }),
  ({ tool_call_id: call_id, content: output }): readonly Item[] => [
    { type: 'function_call_output', call_id, output },
  ],
)

const functionMessage = map(
  record({ role: text, name: text }, { content: textContent }),
  ({ name, content: output = '' }): readonly OldResult[] => [{ type: 'result', name, output }],
)

export const inputItems: Rule<readonly Item[]> = map(
  list(
    variants('role', {
      system: systemMessage('system'),
      developer: systemMessage('developer'),
      user: userMessage,
      assistant: assistantMessage,
      tool: toolMessage,
      function: functionMessage,
    }),
  ),
  (messages, at) => paired(messages, at),
)

/** The same id for each call of the older shape and its result, and for each result the type of its call. */
function paired(messages: readonly (readonly (Item | OldCall | OldResult)[])[], at: Place): readonly Item[] {
  const custom = new Set<string>()
  let open: FunctionCall | null = null
  return messages.flatMap((items, index) =>
    items.flatMap((item): readonly Item[] => {
      const call: FunctionCall | null = open
      open = null
      if (!('type' in item)) return [item]
      if (item.type === 'call') {
        open = { ...item, type: 'function_call', call_id: `call_${index}` }
        return [open]
      }
      if (item.type === 'result') {
        if (call?.name !== item.name) {
          at.step(index).fault('must follow the function_call that it responds to')
          return []
        }
        return [{ type: 'function_call_output', call_id: call.call_id, output: item.output }]
      }
      if (item.type === 'custom_tool_call') custom.add(item.call_id)
      const isCustom = item.type === 'function_call_output' && custom.has(item.call_id)
      return [isCustom ? { ...item, type: 'custom_tool_call_output' } : item]
    }),
  )
}

function inputText(text: string): TextPart {
  return { type: 'input_text', text }
}

function textOfContent(content: string | readonly TextPart[] = ''): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('')
}
