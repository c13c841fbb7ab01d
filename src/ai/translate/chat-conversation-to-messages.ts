// Translates the conversation of a Chat Completions request into the turns of Messages.

import { type ImageSource, sourceOfUrl } from './images.ts'
import { bounds } from '../../base/json/members.ts'
import { readObject } from './json.ts'
import type { Place } from './place.ts'
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
} from './rules.ts'

interface TextBlock {
  readonly type: 'text'
  readonly text: string
}

type Content<B> = string | readonly B[]
type ImageBlock = { readonly type: 'image'; readonly source: ImageSource }
type ToolUseBlock = {
  readonly type: 'tool_use'
  readonly id: string
  readonly name: string
  readonly input: object
}
type ToolResultBlock = {
  readonly type: 'tool_result'
  readonly tool_use_id: string
  readonly content: Content<TextBlock | ImageBlock>
}

type SystemTurn = { readonly role: 'system'; readonly content: Content<TextBlock> }
type UserTurn = { readonly role: 'user'; readonly content: Content<TextBlock | ImageBlock | ToolResultBlock> }
type AssistantTurn = {
  readonly role: 'assistant'
  readonly content: Content<TextBlock | ToolUseBlock>
  /** The older shape, without an id: its result is the next message of the role `function`. */
  readonly called?: Pick<ToolUseBlock, 'name' | 'input'>
}
type FunctionTurn = { readonly role: 'function'; readonly name: string; readonly content: Content<TextBlock> }
type ToolTurn = { readonly role: 'tool'; readonly result: ToolResultBlock }

interface Conversation {
  readonly system: Content<TextBlock> | undefined
  readonly messages: readonly (SystemTurn | UserTurn | AssistantTurn)[]
}

const nameless = never('name the speaker in the content')

/** In the form of OpenAI, and in that of Messages, which other chat servers adopted. */
const cachePoints = { prompt_cache_breakpoint: dropped, cache_control: dropped }

const textPart = map(
  record({ type: text, text }, cachePoints),
  (part): TextBlock => ({ type: 'text', text: part.text }),
)

const imagePart = map(
  record({ type: text, image_url: record({ url: sourceOfUrl }, { detail: off('auto') }) }, cachePoints),
  (part): ImageBlock => ({ type: 'image', source: part.image_url.url }),
)

const refusalPart = map(
  record({ type: text, refusal: text }, {}),
  (part): TextBlock => ({ type: 'text', text: part.refusal }),
)

const textContent = textOr(list(variants('type', { text: textPart })))
const shownContent = textOr(list(variants('type', { text: textPart, image_url: imagePart })))

const systemMessage = map(
  record({ role: text, content: textContent }, { name: nameless, cache_control: dropped }),
  ({ content }): SystemTurn => ({ role: 'system', content }),
)

const userMessage = map(
  record({ role: text, content: shownContent }, { name: nameless, cache_control: dropped }),
  ({ content }): UserTurn => ({ role: 'user', content }),
)

const toolCall = variants('type', {
  function: map(
    record(
      { type: text, id: text, function: record({ name: text, arguments: toolArguments }, {}) },
      { index: anything },
    ),
    (call): ToolUseBlock => ({
      type: 'tool_use',
      id: call.id,
      name: call.function.name,
      input: call.function.arguments,
    }),
  ),
})

const assistantMessage = map(
  record(
    { role: text },
    {
      content: textOr(list(variants('type', { text: textPart, refusal: refusalPart }))),
      refusal: text,
      tool_calls: list(toolCall),
      function_call: record({ name: text, arguments: toolArguments }, {}),
      // Under the names of several providers: Messages accepts only thoughts that it has signed.
      reasoning: dropped,
      reasoning_content: dropped,
      reasoning_details: droppedUnless([]),
      annotations: off([]),
      audio: off(),
      name: nameless,
      cache_control: dropped,
    },
  ),
  ({ content, refusal, tool_calls = [], function_call: call }, at): AssistantTurn | undefined => {
    const text = joined([content, refusal].filter(part => part !== undefined))
    if (call !== undefined && tool_calls.length > 0)
      return at.step('function_call').fault('cannot be combined with tool_calls')
    if (call !== undefined) {
      const called = { name: call.name, input: call.arguments }
      return { role: 'assistant', content: blocksOf(text ?? ''), called }
    }
    if (tool_calls.length > 0) return { role: 'assistant', content: [...blocksOf(text ?? ''), ...tool_calls] }
    return text === undefined
      ? at.fault('must have content or tool_calls')
      : { role: 'assistant', content: text }
  },
)

/** The call has the name of the tool already. */
const toolMessage = map(
  record({ role: text, tool_call_id: text, content: shownContent }, { name: text, cache_control: dropped }),
  ({ tool_call_id, content }): ToolTurn => ({
    role: 'tool',
    result: { type: 'tool_result', tool_use_id: tool_call_id, content },
  }),
)

const functionMessage = map(
  record({ role: text, name: text }, { content: textContent }),
  ({ name, content = '' }): FunctionTurn => ({ role: 'function', name, content }),
)

/** System messages at the beginning become `system`, and consecutive tool results one turn of the user. */
export const conversation: Rule<Conversation> = map(
  list(
    variants('role', {
      system: systemMessage,
      developer: systemMessage,
      user: userMessage,
      assistant: assistantMessage,
      tool: toolMessage,
      function: functionMessage,
    }),
  ),
  (messages, at) => {
    const turns = withIds(messages, at)
    const begin = turns.findIndex(({ role }) => role !== 'system')
    const count = begin === -1 ? turns.length : begin
    const system = turns.slice(0, count).flatMap(turn => (turn.role === 'system' ? [turn.content] : []))
    return { system: joined(system), messages: mergeResults(turns.slice(count)) }
  },
)

/** The same id for each call of the older shape and its result. */
function withIds(
  turns: readonly (SystemTurn | UserTurn | AssistantTurn | ToolTurn | FunctionTurn)[],
  at: Place,
): (SystemTurn | UserTurn | AssistantTurn | ToolTurn)[] {
  let open: ToolUseBlock | null = null
  return turns.flatMap((turn, index) => {
    if (turn.role === 'function') {
      const call = open
      open = null
      if (call?.name !== turn.name) {
        at.step(index).fault('must follow the function_call that it responds to')
        return []
      }
      return { role: 'tool', result: { type: 'tool_result', tool_use_id: call.id, content: turn.content } }
    }
    open = null
    if (turn.role !== 'assistant' || turn.called === undefined) return turn
    open = { type: 'tool_use', id: `call_${index}`, ...turn.called }
    return { role: 'assistant', content: [...blocksOf(turn.content), open] }
  })
}

function joined(contents: readonly Content<TextBlock>[]): Content<TextBlock> | undefined {
  return contents.length > 1 ? contents.flatMap(blocksOf) : contents[0]
}

function mergeResults(
  turns: readonly (SystemTurn | UserTurn | AssistantTurn | ToolTurn)[],
): Conversation['messages'] {
  const messages: (SystemTurn | UserTurn | AssistantTurn)[] = []
  let results: ToolResultBlock[] | null = null
  for (const turn of turns) {
    if (turn.role !== 'tool') {
      results = null
      messages.push(turn)
    } else if (results) {
      results.push(turn.result)
    } else {
      results = [turn.result]
      messages.push({ role: 'user', content: results })
    }
  }
  return messages
}

/** Messages does not accept empty blocks. */
function blocksOf<B>(content: Content<B>): readonly (B | TextBlock)[] {
  if (typeof content !== 'string') return content
  return content === '' ? [] : [{ type: 'text', text: content }]
}

/** An empty text means none. */
function toolArguments(value: unknown, at: Place): object | undefined {
  if (typeof value !== 'string') return at.fault('must be a string')
  const read = readObject(value === '' ? '{}' : value)
  return read ?? at.fault(`must contain a JSON object of at most ${bounds.depth} levels`)
}
