// Translates the input of a Responses request into the messages of chat.

import type { InputItem, InputPart, TextPart } from '../responses/responses-input.ts'

interface ChatCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
}

type ChatPart =
  | TextPart
  | {
      readonly type: 'image_url'
      readonly image_url: { readonly url: string; readonly detail: string | undefined }
    }
  | {
      readonly type: 'file'
      readonly file: { readonly file_data: string; readonly filename: string | undefined }
    }

type Item = InputItem<unknown>

/** `instructions` and the system messages after them become one message, since many models take no more. */
export function chatMessages(instructions: string | undefined, input: readonly Item[]): readonly object[] {
  const items = input.filter(({ kind }) => kind !== 'tools')
  const begin = items.findIndex(({ kind }) => kind !== 'system')
  const count = begin === -1 ? items.length : begin
  const texts = items.slice(0, count).flatMap(item => (item.kind === 'system' ? item.parts : []))
  if (instructions) texts.unshift({ type: 'text', text: instructions })
  const rest = turnsOf(items.slice(count)).flatMap(messagesOf)
  return texts.length > 0 ? [{ role: 'system', content: textOf(texts) }, ...rest] : rest
}

/** What a model wrote at once is one message in chat, and all results follow their calls. */
function turnsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const turns: Item[][] = []
  let last = ''
  for (const item of items) {
    const turn = turnOf(item)
    if (turn === last && turn !== 'other') turns.at(-1)!.push(item)
    else turns.push([item])
    last = turn
  }
  return turns
}

function turnOf({ kind }: Item): 'model' | 'results' | 'other' {
  if (kind === 'assistant' || kind === 'call') return 'model'
  return kind === 'result' ? 'results' : 'other'
}

function messagesOf(turn: readonly Item[]): readonly object[] {
  const [first] = turn
  if (first!.kind === 'user') return [{ role: 'user', content: contentOf(first!.parts) }]
  if (first!.kind === 'system') return [{ role: 'system', content: textOf(first!.parts) }]
  return turnOf(first!) === 'model' ? [modelMessage(turn)] : resultMessages(turn)
}

function modelMessage(turn: readonly Item[]): object {
  const texts = turn.flatMap(item => (item.kind === 'assistant' ? item.parts : []))
  const calls = turn.flatMap(item => (item.kind === 'call' ? [chatCall(item)] : []))
  const content = texts.length > 0 ? textOf(texts) : null
  return { role: 'assistant', content, tool_calls: calls.length > 0 ? calls : undefined }
}

function chatCall({ id, name, arguments: input }: Extract<Item, { readonly kind: 'call' }>): ChatCall {
  return { id, type: 'function', function: { name, arguments: input } }
}

/** A tool message of chat has text only, so that anything else follows in a message of the user. */
function resultMessages(turn: readonly Item[]): readonly object[] {
  const results = turn.flatMap(item => (item.kind === 'result' ? [item] : []))
  const shown: ChatPart[] = []
  const messages = results.map(({ id, parts }) => {
    const texts = parts.filter(part => part.type === 'text')
    const others = parts.filter(part => part.type !== 'text')
    if (others.length > 0)
      shown.push({ type: 'text', text: `Result of tool call ${id}:` }, ...others.map(chatPart))
    const isElsewhere = texts.length === 0 && others.length > 0
    const content = isElsewhere ? 'The result is in the next message of the user.' : textOf(texts)
    return { role: 'tool', tool_call_id: id, content }
  })
  return shown.length > 0 ? [...messages, { role: 'user', content: shown }] : messages
}

/** Every chat provider accepts a plain string. */
function contentOf(parts: readonly InputPart[]): string | readonly ChatPart[] {
  const texts = parts.filter(part => part.type === 'text')
  return texts.length === parts.length ? textOf(texts) : parts.map(chatPart)
}

function textOf(parts: readonly TextPart[]): string {
  return parts.map(({ text }) => text).join('\n\n')
}

function chatPart(part: InputPart): ChatPart {
  if (part.type === 'image') return { type: 'image_url', image_url: { url: part.url, detail: part.detail } }
  if (part.type === 'file') return { type: 'file', file: { file_data: part.data, filename: part.name } }
  return part
}
