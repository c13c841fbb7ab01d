// Reasoning that only its provider can read: ciphertext and signatures. On an alias, models take turns in one
// conversation, so callers get these strings, and translated reasoning, with a tag that names the provider.

import { type Edit, edit, elementsAt, membersAt, type Span, textAt } from '../../base/json/members.ts'

/** An API with such strings. */
export type ReasoningApi = 'chat' | 'messages' | 'responses'

/** Returns what precedes the strings of a provider. */
export function tagOf(provider: string): string {
  return `${tagStart}${provider}.`
}

/** Providers write no dot. */
export const tagStart = 'svc.'

/** Tags the responses of one provider, and leaves every other byte as it is. */
export class ReasoningTags {
  readonly #api: ReasoningApi
  readonly #tag: string

  constructor(api: ReasoningApi, provider: string) {
    this.#api = api
    this.#tag = tagOf(provider)
  }

  isNeededIn(json: Buffer): boolean {
    return mayHaveReasoning(json, this.#api)
  }

  /** Tags a whole response. */
  tagBody(json: Buffer): Buffer {
    return this.isNeededIn(json) ? edit(json, this.#edits(json, spanOf(json))) : json
  }

  /** Tags complete events of a stream. JSON of several lines is not, so that no provider will get it back. */
  tagEvents(events: Buffer): Buffer {
    if (!mayHaveReasoning(events, this.#api)) return events
    const edits: Edit[] = []
    for (let start = 0; start < events.length; ) {
      const end = lineEnd(events, start)
      const json = dataAt(events, start)
      if (json !== null) edits.push(...this.#edits(events, { start: json, end }))
      start = end + 1
    }
    return edit(events, edits)
  }

  #edits(json: Buffer, root: Span): readonly Edit[] {
    return places[this.#api]
      .flatMap(path => valuesAt(json, root, path))
      .flatMap(block => opaqueStringsIn(json, block))
      .map(({ start }) => ({ start: start + 1, end: start + 1, text: this.#tag }))
  }
}

/** Whether bytes have the name of a member that such strings need: nearly all calls have none. */
export function mayHaveReasoning(bytes: Buffer, api: ReasoningApi): boolean {
  return signs[api].some(sign => bytes.includes(sign))
}

/** A string that only its provider can read, and the type of its block. */
interface OpaqueString extends Span {
  readonly type: string
}

/** Finds these strings in a block: one, unless it has duplicate members. */
export function opaqueStringsIn(json: Buffer, block: Span): readonly OpaqueString[] {
  const members = membersAt(json, block)
  const types = members.flatMap(member => (member.name === 'type' ? [textAt(json, member) ?? ''] : []))
  return types.flatMap(type =>
    members
      .filter(member => member.name === opaqueMembers.get(type) && isFilledString(json, member))
      .map(({ start, end }) => ({ type, start, end })),
  )
}

function isFilledString(json: Buffer, { start, end }: Span): boolean {
  return json[start] === quote && end - start > 2
}

export function spanOf({ length }: Buffer): Span {
  return { start: 0, end: length }
}

/** By the type of a block, or of a part of one in a stream. */
const opaqueMembers: ReadonlyMap<string, string> = new Map([
  ['thinking', 'signature'],
  ['signature_delta', 'signature'],
  ['redacted_thinking', 'data'],
  ['reasoning', 'encrypted_content'],
  ['reasoning.text', 'signature'],
  ['reasoning.encrypted', 'data'],
])

const signs: Readonly<Record<ReasoningApi, readonly string[]>> = {
  chat: ['"reasoning_details"'],
  messages: ['"signature"', '"redacted_thinking"'],
  responses: ['"encrypted_content"'],
}

const all = Symbol('all elements of an array')

type Path = readonly (string | typeof all)[]

/** Where whole responses and events have blocks. */
const places: Readonly<Record<ReasoningApi, readonly Path[]>> = {
  chat: [
    ['choices', all, 'message', 'reasoning_details', all],
    ['choices', all, 'delta', 'reasoning_details', all],
  ],
  messages: [['content', all], ['message', 'content', all], ['content_block'], ['delta']],
  responses: [['output', all], ['response', 'output', all], ['item']],
}

function valuesAt(json: Buffer, root: Span, path: Path): readonly Span[] {
  let values: readonly Span[] = [root]
  for (const step of path)
    values = values.flatMap(value =>
      step === all ? elementsAt(json, value) : membersAt(json, value).filter(({ name }) => name === step),
    )
  return values
}

/** Returns where the data of a line of a stream begins; null for a line of another field. */
function dataAt(events: Buffer, start: number): number | null {
  const data = start + dataField.length
  if (events.toString('latin1', start, data) !== dataField) return null
  return events[data] === space ? data + 1 : data
}

function lineEnd(bytes: Buffer, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== lf && bytes[at] !== cr) at++
  return at
}

const dataField = 'data:'
const lf = 0x0a
const cr = 0x0d
const space = 0x20
const quote = 0x22
