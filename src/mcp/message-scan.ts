// Reads in the bytes of messages what decides what they ask for. Anything else is skipped, and not built.

import { MemberNames } from '../base/json/member-names.ts'
import { skipSpace, type Span } from '../base/json/members.ts'
import { JsonStructure } from '../base/json/structure.ts'

type MessageMember = 'jsonrpc' | 'id' | 'method' | 'params' | 'result' | 'error'
type ParamsMember = 'name' | 'uri' | 'taskId' | 'meta' | 'ref' | 'notifications'
type RefMember = 'refType' | 'refName' | 'refUri'
type Slot = MessageMember | ParamsMember | RefMember | 'claim' | 'subscriptions'

/** Objects whose members are read. */
type Read = 'message' | 'params' | 'meta' | 'ref' | 'notifications'
type Place = Read | 'batch' | 'subscriptions' | 'other'

const readers: Readonly<Record<Read, MemberNames<Slot>>> = {
  message: new MemberNames<Slot>({
    ...{ jsonrpc: 'jsonrpc', id: 'id', method: 'method', params: 'params', result: 'result', error: 'error' },
  }),
  params: new MemberNames<Slot>({
    ...{ name: 'name', uri: 'uri', taskId: 'taskId', _meta: 'meta', ref: 'ref' },
    notifications: 'notifications',
  }),
  meta: new MemberNames<Slot>({ 'io.modelcontextprotocol/protocolVersion': 'claim' }),
  ref: new MemberNames<Slot>({ type: 'refType', name: 'refName', uri: 'refUri' }),
  notifications: new MemberNames<Slot>({ resourceSubscriptions: 'subscriptions' }),
}

/** Members that have more in them that is read. */
const inner = new Map<Slot, Place>([
  ['params', 'params'],
  ['meta', 'meta'],
  ['ref', 'ref'],
  ['notifications', 'notifications'],
  ['subscriptions', 'subscriptions'],
])

export class ScannedMessage {
  /** Why it could be read in two ways; null for most. */
  flaw: string | null = null
  /** Null for what is no text, or not as texts may be here; of the id, the JSON itself. */
  readonly texts = new Map<Slot, string | null>()
  readonly subscriptions: (string | null)[] = []
  readonly #misshapen = new Set<Slot>()

  has(slot: Slot): boolean {
    return this.texts.has(slot)
  }

  text(slot: Slot): string | null {
    return this.texts.get(slot) ?? null
  }

  /** Whether a member that must be an object or a list is something else. */
  isMisshapen(slot: Slot): boolean {
    return this.#misshapen.has(slot)
  }

  noteShape(slot: Slot, isRight: boolean): void {
    if (!isRight) this.#misshapen.add(slot)
  }
}

export class MessageScan extends JsonStructure<Place> {
  isBatch = false
  readonly #messages: ScannedMessage[] = []
  #message = new ScannedMessage()

  /** Lists the messages of a batch, or the only one; null for what is not JSON, or nests too deep. */
  read(): readonly ScannedMessage[] | null {
    const { json } = this
    const start = skipSpace(json, 0)
    this.isBatch = json[start] === bracket
    const end = this.isBatch ? this.list(start, 'batch', 0) : this.element(start, 'batch', 0)
    return this.isBroken || skipSpace(json, end) !== json.length ? null : this.#messages
  }

  protected override element(start: number, place: Place, depth: number): number {
    if (place === 'batch') return this.#element(start, depth)
    if (place === 'subscriptions') return this.#subscription(start, depth)
    return this.value(start, place, depth)
  }

  #element(start: number, depth: number): number {
    this.#message = new ScannedMessage()
    this.#messages.push(this.#message)
    if (this.json[start] === brace) return this.object(start, 'message', depth + 1)
    this.#message.flaw = 'A message must be an object.'
    return this.value(start, 'other', depth)
  }

  #subscription(start: number, depth: number): number {
    const end = this.value(start, 'other', depth)
    this.#message.subscriptions.push(this.#textAt({ start, end }))
    return end
  }

  protected override member(
    nameStart: number,
    nameEnd: number,
    start: number,
    place: Place,
    depth: number,
  ): number {
    const known = place in readers ? readers[place as Read].at(this.json, nameStart, nameEnd) : null
    if (known === null) return this.value(start, 'other', depth)
    const { meaning: slot, isExact } = known
    const message = this.#message
    if (!isExact) message.flaw ??= 'A member differs from a known one only in upper and lower case.'
    if (message.has(slot)) message.flaw ??= 'A member is duplicate.'
    const end = this.#known(slot, start, depth)
    message.texts.set(slot, slot === 'id' ? this.#idAt({ start, end }) : this.#textAt({ start, end }))
    return end
  }

  #known(slot: Slot, start: number, depth: number): number {
    const place = inner.get(slot) ?? 'other'
    const isRight = this.json[start] === (place === 'subscriptions' ? bracket : brace)
    this.#message.noteShape(slot, isRight)
    return this.value(start, isRight ? place : 'other', depth)
  }

  /** Null for what is not a string, is too long, or has characters that no name has. */
  #textAt({ start, end }: Span): string | null {
    if (this.json[start] !== quote || end - start > longestText) return null
    const text = parsed(this.json.toString('utf8', start, end))
    return typeof text === 'string' && text.isWellFormed() && !controls.test(text) ? text : null
  }

  #idAt({ start, end }: Span): string | null {
    if (end - start > longestId) return null
    const json = this.json.toString('utf8', start, end)
    const id = parsed(json)
    return typeof id === 'number' || (typeof id === 'string' && id.isWellFormed()) ? json : null
  }
}

/** Strings and numbers only: of what is short, and may have faults inside. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return null
  }
}

const controls = /[\0-\x1f\x7f]/

/** Bytes: of names, which may be addresses, and of ids. */
const longestText = 8192
const longestId = 256

const quote = 0x22
const bracket = 0x5b
const brace = 0x7b
