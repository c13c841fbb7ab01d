// All of a log entry but its id and bodies, as JSON.

import { comma, LogBytes, lineEnd, member, power, zero } from './bytes.ts'
import type { ActingApp, LogSummary } from '../records/records.ts'

/** The bodies of an entry, in the order in which they are kept. */
export interface Bodies {
  readonly request: Body | null
  readonly response: Body | null
  readonly providerResponse: Body | null
}

/** A body before it is text. */
export interface Body {
  readonly bytes: Buffer
  readonly isCut: boolean
  /** Whether it is to be shown as base64. */
  readonly isBinary: boolean
}

type Text = string | null
type Count = number | null

type Head = readonly [
  createdAt: number,
  provider: string,
  model: Text,
  path: string,
  status: number,
  flags: number,
  error: Text,
  duration: number,
  timeToFirstByte: Count,
  tokensIn: Count,
  tokensOut: Count,
  cost: Count,
  metadata: LogSummary['metadata'],
  requestContentType: Text,
  responseContentType: Text,
  /** Bytes of the bodies. */
  requestSize: Count,
  responseSize: Count,
  /** Heads that are older have none of these. */
  tokenId?: Text,
  tokenName?: Text,
  providerResponseSize?: Count,
  /** Only where an app made the call, or as null before what follows. */
  app?: readonly [user: string, email: string, client: string] | null,
  /** Only where members were left out. */
  dropped?: readonly string[],
]

/** The bits of a head's `flags`. */
export const flags = {
  success: 1,
  cached: 2,
  authenticated: 4,
  streamed: 8,
  requestIsCut: 16,
  responseIsCut: 32,
  requestIsBinary: 64,
  responseIsBinary: 128,
  providerResponseIsCut: 256,
  providerResponseIsBinary: 512,
  emailIsVerified: 1024,
  usageIsEstimated: 2048,
} as const

/** What a head says of its call but for what is counted, as it is written. */
interface Call extends Pick<LogSummary, 'provider' | 'model' | 'path' | 'status' | 'error'> {
  readonly flags: number
  readonly json: Uint8Array
}

interface Caller extends Pick<LogSummary, 'tokenId' | 'tokenName'> {
  readonly json: Uint8Array
}

interface App extends Pick<ActingApp, 'user' | 'email' | 'client'> {
  readonly json: Uint8Array
}

/** Writes heads by hand, since every call pays for it. What is as in the head before, which most of it is, is copied in two pieces. */
export class Heads {
  readonly #to = new LogBytes()
  #call: Call | null = null
  #caller: Caller | null = null
  #app: App | null = null

  /** Bytes that are written. */
  get size(): number {
    return this.#to.size
  }

  /** Bytes of memory, used or not. */
  get weight(): number {
    return this.#to.weight
  }

  /** Returns what is written; it lies in this memory until `clear`. */
  written(): Buffer {
    return this.#to.written()
  }

  /** Starts over in the same memory. */
  clear(): void {
    this.#to.clear()
  }

  /** Writes a comma and a head. */
  add(e: LogSummary, bodies: Bodies): void {
    const to = this.#to
    to.open()
    to.number(e.createdAt)
    this.#addCall(e, flagsOf(e, bodies))
    to.multiple(e.duration, thousandth)
    to.multiple(e.timeToFirstByte, thousandth)
    to.number(e.tokensIn)
    to.number(e.tokensOut)
    to.multiple(e.cost, trillionth)
    to.json(e.metadata)
    to.copy(quotes.requestContentType.of(e.requestContentType))
    to.copy(quotes.responseContentType.of(e.responseContentType))
    to.number(sizeOf(bodies.request))
    to.number(sizeOf(bodies.response))
    this.#addCaller(e)
    to.number(sizeOf(bodies.providerResponse))
    if (e.app !== undefined) this.#addApp(e.app)
    else if (e.dropped !== undefined) to.json(null)
    if (e.dropped !== undefined) to.json(e.dropped)
    to.close()
  }

  #addCall({ provider, model, path, status, error }: LogSummary, flags: number): void {
    const to = this.#to
    const last = this.#call
    const isSame = last !== null && last.path === path && last.model === model && last.provider === provider
    if (isSame && last.status === status && last.flags === flags && last.error === error)
      return to.copy(last.json)
    const start = to.size
    to.copy(quotes.provider.of(provider))
    to.copy(quotes.model.of(model))
    to.copy(quotes.path.of(path))
    to.number(status)
    to.number(flags)
    to.copy(quotes.error.of(error))
    this.#call = { provider, model, path, status, flags, error, json: to.since(start) }
  }

  #addCaller({ tokenId, tokenName }: LogSummary): void {
    const to = this.#to
    const last = this.#caller
    if (last !== null && last.tokenId === tokenId && last.tokenName === tokenName) return to.copy(last.json)
    const start = to.size
    to.copy(quotes.tokenId.of(tokenId))
    to.copy(quotes.tokenName.of(tokenName))
    this.#caller = { tokenId, tokenName, json: to.since(start) }
  }

  #addApp({ user, email, client }: ActingApp): void {
    const to = this.#to
    const last = this.#app
    if (last !== null && last.user === user && last.client === client && last.email === email)
      return to.copy(last.json)
    const start = to.size
    to.json([user, email, client])
    this.#app = { user, email, client, json: to.since(start) }
  }
}

/** Reads heads that were written one behind the other. */
export function readHeads(heads: Buffer): Head[] {
  return JSON.parse(`[${heads.toString('utf8', 1)}]`)
}

/** Reads only the first member of so many heads: all of them cost twenty times as much. */
export function readTimes(heads: Buffer, count: number): Float64Array {
  const times = new Float64Array(count)
  let at = 0
  for (let i = 0; i < count; i++) {
    const start = heads.indexOf(lineEnd, at) + 2
    // What was written before heads had lines of their own.
    if (start === 1) return Float64Array.from(readHeads(heads), head => head[0])
    at = start
    let time = 0
    while (isDigit(heads[at]!)) time = time * 10 + (heads[at++]! - zero)
    // What is no whole number, or has more digits than sums keep, is read as JSON does.
    if (heads[at] !== comma || at - start > exactDigits)
      time = Number(heads.toString('latin1', start, (at = heads.indexOf(comma, at))))
    times[i] = time
  }
  return times
}

/** Whole numbers of so many digits are exact. */
const exactDigits = 15

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= zero + 9
}

/** Bytes of heads that are read in one step. */
const sliceSize = 64 * 1024

/** Reads them in slices, of which each is work for one turn; what was written before heads had lines of their own is one slice. */
export function* headSlices(heads: Buffer): Generator<Head[]> {
  for (let at = 0; at < heads.length; ) {
    const end = at + sliceSize < heads.length ? heads.indexOf(lineEnd, at + sliceSize) : -1
    // The line end of a head is the second of its bytes.
    const next = end === -1 ? heads.length : end - 1
    yield readHeads(heads.subarray(at, next))
    at = next
  }
}

/** Returns what a head says of an entry. */
export function summaryOf(head: Head, id: string, account: string, gateway: string): LogSummary {
  return {
    id,
    account,
    gateway,
    createdAt: head[0],
    provider: head[1],
    model: head[2],
    path: head[3],
    status: head[4],
    success: (head[5] & flags.success) !== 0,
    error: head[6],
    duration: head[7],
    timeToFirstByte: head[8],
    tokensIn: head[9],
    tokensOut: head[10],
    ...((head[5] & flags.usageIsEstimated) !== 0 && { usageIsEstimated: true as const }),
    cost: head[11],
    cached: (head[5] & flags.cached) !== 0,
    authenticated: (head[5] & flags.authenticated) !== 0,
    tokenId: head[17] ?? null,
    tokenName: head[18] ?? null,
    streamed: (head[5] & flags.streamed) !== 0,
    metadata: head[12],
    requestContentType: head[13],
    responseContentType: head[14],
    ...(head[21] && { dropped: head[21] }),
    ...(head[20] && { app: appIn(head[20], head[18]!, head[5]) }),
  }
}

function appIn([user, email, client]: NonNullable<Head[20]>, clientName: string, bits: number): ActingApp {
  const isEmailVerified = (bits & flags.emailIsVerified) !== 0
  return { user, email, ...(isEmailVerified && { isEmailVerified }), client, clientName }
}

/** What durations and costs are multiples of. */
const thousandth = power(3)
const trillionth = power(12)

interface Quote {
  readonly text: Text
  readonly json: Uint8Array
}

/** The texts of a column as they are written: they are few, and mostly the last one comes again. */
class Quotes {
  readonly #known = new Map<Text, Quote>()
  #last = quoted(null)

  of(text: Text): Uint8Array {
    if (text !== this.#last.text) this.#last = this.#known.get(text) ?? this.#learn(text)
    return this.#last.json
  }

  #learn(text: Text): Quote {
    const quote = quoted(text)
    if (quote.json.length > longestRemembered) return quote
    if (this.#known.size === mostRemembered) this.#known.clear()
    this.#known.set(quote.text, quote)
    return quote
  }
}

const mostRemembered = 1000
const longestRemembered = 256

const quotes = {
  provider: new Quotes(),
  model: new Quotes(),
  path: new Quotes(),
  error: new Quotes(),
  requestContentType: new Quotes(),
  responseContentType: new Quotes(),
  tokenId: new Quotes(),
  tokenName: new Quotes(),
}

function quoted(text: Text): Quote {
  const json = JSON.stringify(text)
  // The text itself may be a part of a whole request and keep that in memory.
  return { text: JSON.parse(json), json: member(json) }
}

function flagsOf(e: LogSummary, { request, response, providerResponse }: Bodies): number {
  return (
    (e.success ? flags.success : 0) |
    (e.cached ? flags.cached : 0) |
    (e.authenticated ? flags.authenticated : 0) |
    (e.streamed ? flags.streamed : 0) |
    (e.usageIsEstimated ? flags.usageIsEstimated : 0) |
    (e.app?.isEmailVerified ? flags.emailIsVerified : 0) |
    (request?.isCut ? flags.requestIsCut : 0) |
    (response?.isCut ? flags.responseIsCut : 0) |
    (request?.isBinary ? flags.requestIsBinary : 0) |
    (response?.isBinary ? flags.responseIsBinary : 0) |
    (providerResponse?.isCut ? flags.providerResponseIsCut : 0) |
    (providerResponse?.isBinary ? flags.providerResponseIsBinary : 0)
  )
}

function sizeOf(body: Body | null): Count {
  return body === null ? null : body.bytes.length
}
