// Translates the conversation of a Messages request into the input items of Responses.

import { type JsonObject, textIn } from '../json.ts'
import {
  imageBlock,
  refuseLateResults,
  type TextPart,
  systemMembers,
  textBlock,
  textContent,
  toolReference,
  toolUse,
} from '../messages/messages-blocks.ts'
import { unpack } from '../packed-reasoning.ts'
import {
  dropped,
  list,
  map,
  never,
  off,
  type Rule,
  record,
  text,
  textOr,
  truth,
  variants,
  words,
} from '../rules.ts'

type InputText = { readonly type: 'input_text'; readonly text: string }
type InputImage = { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
type InputFile = {
  readonly type: 'input_file'
  readonly filename?: string
  readonly file_data?: string
  readonly file_url?: string
}
type InputPart = InputText | InputImage | InputFile

type Content = string | readonly InputPart[]

interface Message {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: Content
}
interface Call {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}
interface CallOutput {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: Content
}
/** As its provider wrote it. */
type Reasoning = { readonly type: 'reasoning' } & JsonObject

type InputItem = Message | Call | CallOutput | Reasoning

const inputText = map(textBlock, ({ text }): InputText => ({ type: 'input_text', text }))

const inputReference = map(toolReference, ({ text }): InputText => ({ type: 'input_text', text }))

const inputImage = map(
  imageBlock,
  ({ image_url: { url } }): InputImage => ({ type: 'input_image', image_url: url, detail: 'auto' }),
)

const pdf = words({ 'application/pdf': 'application/pdf' } as const)
const plain = words({ 'text/plain': 'text/plain' } as const)

const documentSource = variants('type', {
  base64: map(record({ type: text, media_type: pdf, data: text }, {}), ({ media_type, data }) => ({
    file_data: `data:${media_type};base64,${data}`,
  })),
  url: map(record({ type: text, url: text }, {}), ({ url }) => ({ file_url: url })),
  text: map(record({ type: text, media_type: plain, data: text }, {}), ({ data }) => data),
})

/** A file in base64 needs a name. */
const inputFile = map(
  record(
    { type: text, source: documentSource },
    {
      title: text,
      context: never('put it into a text block'),
      citations: record({}, { enabled: off(false) }),
      cache_control: dropped,
    },
  ),
  ({ source, title }): InputPart => {
    if (typeof source === 'string') return { type: 'input_text', text: source }
    if ('file_url' in source) return { type: 'input_file', ...source }
    return { type: 'input_file', filename: title ?? 'document.pdf', ...source }
  },
)

const shown = { text: inputText, image: inputImage, document: inputFile } as const

/** Responses cannot mark a tool as failed, so the text itself has to say so. */
const toolResult = map(
  record(
    { type: text, tool_use_id: text },
    {
      content: textOr(list(variants('type', { ...shown, tool_reference: inputReference }))),
      is_error: truth,
      cache_control: dropped,
      toolset_name: off(),
    },
  ),
  ({ tool_use_id, content = '', is_error = false }): CallOutput => ({
    type: 'function_call_output',
    call_id: tool_use_id,
    output: contentOf(is_error ? failed(content) : content),
  }),
)

const systemTurn = map(
  record({ role: text, content: textContent }, systemMembers),
  ({ content }): readonly InputItem[] => [{ role: 'system', content: joined(content) }],
)

const userTurn = map(
  record(
    {
      role: text,
      content: textOr(list(variants('type', { ...shown, tool_result: toolResult }))),
    },
    {},
  ),
  ({ content }, at): readonly InputItem[] => {
    if (typeof content === 'string') return [{ role: 'user', content }]
    refuseLateResults(content.map(isOutput), at.step('content'))
    const parts = content.filter(part => !isOutput(part))
    const messages: InputItem[] = parts.length > 0 ? [{ role: 'user', content: contentOf(parts) }] : []
    return [...content.filter(isOutput), ...messages]
  },
)

/** Restores the item of the provider that created it, and leaves out any other thinking. */
const thinking: Rule<Reasoning> = (block, at) => {
  const { type, signature, data } = block as JsonObject
  const item = unpack(at.findings.direction.tag ?? '', signature ?? data)
  return item?.type === 'reasoning' ? (item as Reasoning) : at.step(textIn(type)).drop()
}

const call = map(
  toolUse,
  ({ id, function: { name, arguments: json } }): Call => ({
    type: 'function_call',
    call_id: id,
    name,
    arguments: json,
  }),
)

const assistantTurn = map(
  record(
    {
      role: text,
      content: textOr(
        list(variants('type', { text: textBlock, tool_use: call, thinking, redacted_thinking: thinking })),
      ),
    },
    {},
  ),
  ({ content }): readonly InputItem[] => {
    if (typeof content === 'string') return [{ role: 'assistant', content }]
    const items: InputItem[] = []
    let message: { readonly role: 'assistant'; content: string } | null = null
    for (const part of content) {
      if (part?.type !== 'text') {
        message = null
        if (part !== undefined) items.push(part)
      } else if (message === null) {
        message = { role: 'assistant', content: part.text }
        items.push(message)
      } else message.content += part.text
    }
    return items
  },
)

/** Each block of an assistant's turn, and each tool result, becomes an item. */
export const inputItems: Rule<readonly InputItem[]> = map(
  list(variants('role', { user: userTurn, assistant: assistantTurn, system: systemTurn })),
  turns => turns.flat(),
)

/** As `instructions`, which is one text. */
export const instructions = map(textContent, joined)

function joined(content: string | readonly TextPart[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('\n\n')
}

function contentOf(content: Content): Content {
  if (typeof content === 'string' || content.length !== 1) return content
  const [only] = content
  return only?.type === 'input_text' ? only.text : content
}

function failed(content: Content): Content {
  return typeof content === 'string'
    ? `Error: ${content}`
    : [{ type: 'input_text', text: 'Error:' }, ...content]
}

function isOutput(part: InputPart | CallOutput): part is CallOutput {
  return part.type === 'function_call_output'
}
