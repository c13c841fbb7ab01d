// Translates the input of a Responses request into the turns of Messages.

import { type ImageSource, sourceOfUrl } from '../images.ts'
import { bounds } from '../../../base/json/members.ts'
import { type JsonObject, readObject } from '../json.ts'
import { unpack } from '../packed-reasoning.ts'
import type { Place } from '../place.ts'
import {
  type InputItem,
  type InputPart,
  responsesInput,
  type TextPart,
} from '../responses/responses-input.ts'
import { map, type Rule } from '../rules.ts'

interface TextBlock {
  readonly type: 'text'
  readonly text: string
}
type DocumentSource =
  | { readonly type: 'base64'; readonly media_type: 'application/pdf'; readonly data: string }
  | { readonly type: 'text'; readonly media_type: 'text/plain'; readonly data: string }

type ShownBlock =
  | TextBlock
  | { readonly type: 'image'; readonly source: ImageSource }
  | { readonly type: 'document'; readonly source: DocumentSource; readonly title: string | undefined }

interface ToolUse {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: object
}
interface ToolResult {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: readonly ShownBlock[]
}
/** As its provider wrote it. */
type Thinking = { readonly type: 'thinking' | 'redacted_thinking' } & JsonObject

type ModelBlock = TextBlock | ToolUse | Thinking

export type Turn =
  | { readonly role: 'system'; readonly content: readonly TextBlock[] }
  | { readonly role: 'user'; readonly content: readonly (ShownBlock | ToolResult)[] }
  | { readonly role: 'assistant'; readonly content: readonly ModelBlock[] }

type Item = InputItem<Thinking>

/** Restores the blocks of the provider that created them, and leaves out any other reasoning. */
const thinking: Rule<Thinking> = (item, at) => {
  const block = unpack(at.findings.direction.tag ?? '', (item as JsonObject).encrypted_content)
  const isThinking = block?.type === 'thinking' || block?.type === 'redacted_thinking'
  return isThinking ? (block as Thinking) : at.step('reasoning').drop()
}

/** System messages at the beginning become `system`, and all that a model wrote at once is one turn. */
export const responsesTurns = map(responsesInput(thinking), (input, at) => {
  const items = input.filter(({ kind }) => kind !== 'tools')
  const begin = items.findIndex(({ kind }) => kind !== 'system')
  const count = begin === -1 ? items.length : begin
  return {
    system: items.slice(0, count).flatMap(item => (item.kind === 'system' ? textBlocks(item.parts) : [])),
    turns: stretchesOf(items.slice(count)).flatMap(items => turnsOf(items, at)),
    tools: input.flatMap(item => (item.kind === 'tools' ? item.tools : [])),
  }
})

/** Cuts a conversation where the model begins to write, and where it ends. */
function stretchesOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const stretches: Item[][] = []
  let wasOfModel: boolean | null = null
  for (const item of items) {
    if (isOfModel(item) === wasOfModel) stretches.at(-1)!.push(item)
    else stretches.push([item])
    wasOfModel = isOfModel(item)
  }
  return stretches
}

function isOfModel({ kind }: Item): boolean {
  return kind === 'assistant' || kind === 'call' || kind === 'reasoning'
}

function turnsOf(items: readonly Item[], at: Place): readonly Turn[] {
  return isOfModel(items[0]!) ? modelTurn(items, at) : otherTurns(items)
}

function modelTurn(items: readonly Item[], at: Place): readonly Turn[] {
  const blocks = items.flatMap(item => modelBlocks(item, at))
  // Messages takes no turn that ends in thinking, such as that of a response that was cut.
  const end = blocks.findLastIndex(({ type }) => type === 'text' || type === 'tool_use') + 1
  if (end < blocks.length) at.step(0).step('reasoning').drop()
  return end === 0 ? [] : [{ role: 'assistant', content: blocks.slice(0, end) }]
}

function modelBlocks(item: Item, at: Place): readonly ModelBlock[] {
  if (item.kind === 'reasoning') return [item.reasoning]
  if (item.kind === 'assistant') return textBlocks(item.parts)
  if (item.kind !== 'call') return []
  const { id, name } = item
  const input = readObject(item.arguments)
  if (input === null) {
    at.fault(`must have arguments of ${id} that are a JSON object of at most ${bounds.depth} levels`)
    return []
  }
  return [{ type: 'tool_use', id, name, input }]
}

/** Messages requires the results of tools first, and takes all in one turn. */
function otherTurns(items: readonly Item[]): readonly Turn[] {
  const results = items.flatMap(item => (item.kind === 'result' ? [resultOf(item)] : []))
  const turns: Turn[] = []
  let content: (ShownBlock | ToolResult)[] = [...results]
  const endTurn = () => {
    if (content.length > 0) turns.push({ role: 'user', content })
    content = []
  }
  for (const item of items) {
    if (item.kind === 'user') content.push(...shownBlocks(item.parts))
    if (item.kind !== 'system') continue
    endTurn()
    turns.push({ role: 'system', content: textBlocks(item.parts) })
  }
  endTurn()
  return turns
}

function resultOf({ id, parts }: Extract<Item, { readonly kind: 'result' }>): ToolResult {
  return { type: 'tool_result', tool_use_id: id, content: shownBlocks(parts) }
}

/** Messages does not accept blocks without a character to read. */
function textBlocks(parts: readonly TextPart[]): readonly TextBlock[] {
  return parts.filter(({ text }) => text.trim() !== '').map(({ text }) => ({ type: 'text', text }))
}

function shownBlocks(parts: readonly InputPart[]): readonly ShownBlock[] {
  return parts.flatMap((part): ShownBlock | readonly ShownBlock[] => {
    if (part.type === 'text') return textBlocks([part])
    if (part.type === 'image') {
      if (part.detail === 'low') part.at.step('detail').drop()
      const source = sourceOfUrl(part.url, part.at.step('image_url'))
      return source === undefined ? [] : { type: 'image', source }
    }
    const source = documentSource(part.data, part.at.step('file_data'))
    return source === undefined ? [] : { type: 'document', source, title: part.name }
  })
}

const pdf = 'data:application/pdf;base64,'
const plain = 'data:text/plain;base64,'

function documentSource(url: string, at: Place): DocumentSource | undefined {
  if (url.startsWith(pdf))
    return { type: 'base64', media_type: 'application/pdf', data: url.slice(pdf.length) }
  if (!url.startsWith(plain)) return at.fault('must be a data URL in base64 of PDF or plain text')
  const data = Buffer.from(url.slice(plain.length), 'base64').toString()
  return { type: 'text', media_type: 'text/plain', data }
}
