// Translates the conversation of a Messages request into the messages of chat.

import {
  type ImagePart,
  imageBlock,
  refuseLateResults,
  type TextPart,
  type ToolCall,
  systemMembers,
  textBlock,
  textContent,
  toolReference,
  toolUse,
} from './messages/messages-blocks.ts'
import { dropped, list, map, off, record, type Rule, text, textOr, truth, variants } from './rules.ts'

type Content<P> = string | readonly P[]
type SystemMessage = { readonly role: 'system'; readonly content: Content<TextPart> }
type UserMessage = { readonly role: 'user'; readonly content: Content<TextPart | ImagePart> }
type AssistantMessage = {
  readonly role: 'assistant'
  readonly content: Content<TextPart> | null
  readonly tool_calls?: readonly ToolCall[]
}
type ToolMessage = {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: Content<TextPart>
}
export type ChatMessage = SystemMessage | UserMessage | AssistantMessage | ToolMessage

/** A tool message of chat cannot contain images, so they follow in a message of the user. */
interface ToolResult {
  readonly message: ToolMessage
  readonly images: readonly (TextPart | ImagePart)[]
}

/** Chat cannot mark a tool as failed, so the text itself has to say so. */
const toolResult = map(
  record(
    { type: text, tool_use_id: text },
    {
      content: textOr(
        list(variants('type', { text: textBlock, image: imageBlock, tool_reference: toolReference })),
      ),
      is_error: truth,
      cache_control: dropped,
      toolset_name: off(),
    },
  ),
  ({ tool_use_id, content = '', is_error = false }): ToolResult => {
    const images = typeof content === 'string' ? [] : content.filter(part => part.type === 'image_url')
    const text = typeof content === 'string' ? content : content.filter(part => part.type === 'text')
    const shown =
      images.length > 0 && text.length === 0 ? 'The result is in the next message of the user.' : text
    return {
      message: {
        role: 'tool',
        tool_call_id: tool_use_id,
        content: contentOf(is_error ? failed(shown) : shown),
      },
      images:
        images.length > 0 ? [{ type: 'text', text: `Result of tool call ${tool_use_id}:` }, ...images] : [],
    }
  },
)

export const systemContent = map(textContent, contentOf)

const systemTurn = map(
  record({ role: text, content: systemContent }, systemMembers),
  ({ content }): readonly ChatMessage[] => [{ role: 'system', content }],
)

const userTurn = map(
  record(
    {
      role: text,
      content: textOr(
        list(variants('type', { text: textBlock, image: imageBlock, tool_result: toolResult })),
      ),
    },
    {},
  ),
  ({ content }, at): readonly ChatMessage[] => {
    if (typeof content === 'string') return [{ role: 'user', content }]
    refuseLateResults(content.map(isResult), at.step('content'))
    const results = content.filter(isResult)
    const images = results.flatMap(({ images }) => images)
    const parts = [...images, ...content.filter(part => !isResult(part))] as readonly (TextPart | ImagePart)[]
    const message = { role: 'user' as const, content: contentOf(parts) }
    const messages = results.map(({ message }) => message)
    return parts.length > 0 || results.length === 0 ? [...messages, message] : messages
  },
)

const droppedBlock: Rule<never> = (block, at) => at.step((block as { type: string }).type).drop()

const assistantTurn = map(
  record(
    {
      role: text,
      content: textOr(
        list(
          variants('type', {
            text: textBlock,
            tool_use: toolUse,
            thinking: droppedBlock,
            redacted_thinking: droppedBlock,
          }),
        ),
      ),
    },
    {},
  ),
  ({ content }): readonly ChatMessage[] => {
    if (typeof content === 'string') return [{ role: 'assistant', content }]
    const texts = content.filter(part => part?.type === 'text')
    const tool_calls = content.filter(part => part?.type === 'function')
    // A turn of nothing but thinking is left out as a whole.
    if (texts.length === 0 && tool_calls.length === 0 && content.length > 0) return []
    const text = texts.length > 0 ? contentOf(texts) : null
    return [{ role: 'assistant', content: text, ...(tool_calls.length > 0 ? { tool_calls } : {}) }]
  },
)

/** Tool results in a turn of the user become messages of their own. */
export const turns: Rule<readonly ChatMessage[]> = map(
  list(variants('role', { user: userTurn, assistant: assistantTurn, system: systemTurn })),
  messages => messages.flat(),
)

/** Every chat provider accepts a plain string. */
function contentOf<P extends TextPart | ImagePart>(content: Content<P>): Content<P> {
  if (typeof content === 'string' || content.length !== 1) return content
  const [only] = content
  return only?.type === 'text' ? only.text : content
}

function failed(content: Content<TextPart>): Content<TextPart> {
  return typeof content === 'string' ? `Error: ${content}` : [{ type: 'text', text: 'Error:' }, ...content]
}

function isResult(part: TextPart | ImagePart | ToolResult): part is ToolResult {
  return 'message' in part
}
