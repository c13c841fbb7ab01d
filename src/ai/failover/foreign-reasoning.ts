// Keeps reasoning that one provider created from every other one, in the requests of a conversation that an
// alias leads from provider to provider.

import { isObject } from '../../base/text/json.ts'
import { type Edit, edit, elementsAt, membersAt, type Span } from '../../base/json/members.ts'
import {
  mayHaveReasoning,
  opaqueStringsIn,
  type ReasoningApi,
  spanOf,
  tagOf,
  tagStart,
} from './reasoning-tags.ts'

/** A request that is about to be sent to a provider. */
interface Request {
  readonly bytes: Buffer
  readonly request: Readonly<Record<string, unknown>>
  readonly api: ReasoningApi
  readonly provider: string
  /** Whether an alias chose the provider. */
  readonly isRouted: boolean
}

interface OwnReasoning {
  readonly bytes: Buffer
  /** What was left out, as `messages[].content[].thinking`. */
  readonly dropped: readonly string[]
}

/**
 * Keeps only the provider's own reasoning, without tags; in a call by the name of a model, also what has no
 * tag. Returns the pointer of a foreign block that it would miss: with thinking on, the Messages API takes no
 * tool results without the thinking before them.
 */
export function withOwnReasoning(call: Request): OwnReasoning | { readonly missed: string } {
  const { bytes, api, isRouted } = call
  const mayHave = isRouted ? mayHaveReasoning(bytes, api) : bytes.includes(anyTag)
  if (!mayHave) return { bytes, dropped: none }
  const sieve = new Sieve(call)
  sieve.sift()
  if (sieve.missed !== null) return { missed: sieve.missed }
  return { bytes: edit(bytes, sieve.edits), dropped: [...sieve.dropped] }
}

const none: readonly string[] = []
const anyTag = `"${tagStart}`

class Sieve {
  readonly edits: Edit[] = []
  readonly dropped = new Set<string>()
  missed: string | null = null
  readonly #json: Buffer
  readonly #api: ReasoningApi
  readonly #tag: string
  readonly #isRouted: boolean
  /** The pointer to content whose thinking cannot be left out; null for none. */
  readonly #needed: string | null

  constructor({ bytes, request, api, provider, isRouted }: Request) {
    this.#json = bytes
    this.#api = api
    this.#tag = `"${tagOf(provider)}`
    this.#isRouted = isRouted
    this.#needed = api === 'messages' ? neededContent(request) : null
  }

  sift(): void {
    const json = this.#json
    const name = this.#api === 'responses' ? 'input' : 'messages'
    for (const list of membersAt(json, spanOf(json)).filter(member => member.name === name)) {
      if (this.#api !== 'responses') {
        const messages = elementsAt(json, list)
        const isOut = messages.map((message, i) => this.#siftMessage(message, `/messages/${i}`))
        this.#leaveOut(messages, isOut)
      } else this.#siftBlocks(list, '/input')
    }
  }

  /** Returns whether the message must be left out: the Messages API refuses one without content. */
  #siftMessage(message: Span, pointer: string): boolean {
    const name = this.#api === 'chat' ? 'reasoning_details' : 'content'
    const members = membersAt(this.#json, message)
    const isEmptied = members.map(
      member => member.name === name && this.#siftBlocks(member, `${pointer}/${name}`),
    )
    if (this.#api === 'messages') return isEmptied.includes(true)
    const spans = members.map(({ nameStart, end }) => ({ start: nameStart, end }))
    this.#leaveOut(spans, isEmptied)
    return false
  }

  /** Leaves out what is foreign of a list of blocks; returns whether nothing is left. */
  #siftBlocks(list: Span, pointer: string): boolean {
    const blocks = elementsAt(this.#json, list)
    const isOut = blocks.map(block => this.#isForeign(block))
    if (pointer === this.#needed && isOut.includes(true)) this.missed ??= `${pointer}/${isOut.indexOf(true)}`
    this.#leaveOut(blocks, isOut)
    return blocks.length > 0 && !isOut.includes(false)
  }

  /** Whether a block must not be sent; removes the tags of one that may be. */
  #isForeign(block: Span): boolean {
    const strings = opaqueStringsIn(this.#json, block)
    const own = strings.filter(({ start }) => this.#beginsWith(this.#tag, start))
    const isForeign = ({ start }: Span) =>
      !this.#beginsWith(this.#tag, start) && (this.#isRouted || this.#beginsWith(anyTag, start))
    if (strings.some(isForeign)) {
      this.dropped.add(labels[this.#api] ?? `messages[].content[].${strings[0]!.type}`)
      return true
    }
    for (const { start } of own) this.edits.push({ start, end: start + this.#tag.length, text: '"' })
    return false
  }

  #beginsWith(tag: string, start: number): boolean {
    return this.#json.toString('latin1', start, start + tag.length) === tag
  }

  /** Leaves elements or members out, each with one comma beside it. */
  #leaveOut(items: readonly Span[], isOut: readonly boolean[]): void {
    const firstKept = isOut.includes(false) ? isOut.indexOf(false) : items.length
    for (const [i, { start, end }] of items.entries()) {
      if (!isOut[i]) continue
      const next = items[i + 1]
      const span = i > firstKept ? { start: items[i - 1]!.end, end } : { start, end: next?.start ?? end }
      this.edits.push({ ...span, text: '' })
    }
  }
}

const labels: Readonly<Partial<Record<ReasoningApi, string>>> = {
  chat: 'messages[].reasoning_details',
  responses: 'input[].reasoning',
}

/**
 * Returns the pointer to the last turn of the assistant, if its thinking must be sent back: it uses tools,
 * and thinking has a budget. With adaptive thinking it may be missing.
 */
function neededContent({ thinking, messages }: Request['request']): string | null {
  if (!isObject(thinking) || thinking.type !== 'enabled' || !Array.isArray(messages)) return null
  const index = messages.findLastIndex(message => isObject(message) && message.role === 'assistant')
  const content: unknown = messages[index]?.content
  const usesTools =
    Array.isArray(content) && content.some(block => isObject(block) && block.type === 'tool_use')
  return usesTools ? `/messages/${index}/content` : null
}
