// All of a log entry but its id and bodies, as JSON. Called by the batches beside.
import type { LogSummary } from './records.ts'

/** A body before it is text. */
export interface Body {
  readonly bytes: Buffer
  readonly isCut: boolean
}

type Text = string | null
type Count = number | null

export type Head = readonly [
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
]

/** The bits of a head's `flags`. */
export const flags = {
  success: 1,
  cached: 2,
  authenticated: 4,
  streamed: 8,
  requestIsCut: 16,
  responseIsCut: 32,
} as const

/** Writes a comma and a head: by hand, since every call pays for it. */
export function writeHead(e: LogSummary, request: Body | null, response: Body | null): string {
  const metadata = e.metadata === null ? null : JSON.stringify(e.metadata)
  return (
    `,[${e.createdAt},${quoted(e.provider)},${quoted(e.model)},${quoted(e.path)},${e.status}` +
    `,${flagsOf(e, request, response)},${quoted(e.error)},${e.duration},${e.timeToFirstByte}` +
    `,${e.tokensIn},${e.tokensOut},${e.cost},${metadata},${quoted(e.requestContentType)}` +
    `,${quoted(e.responseContentType)},${sizeOf(request)},${sizeOf(response)}]`
  )
}

/** Reads heads that were written one behind the other. */
export function readHeads(heads: Buffer): Head[] {
  return JSON.parse(`[${heads.toString('utf8', 1)}]`)
}

/** Gives what a head says of an entry. */
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
    cost: head[11],
    cached: (head[5] & flags.cached) !== 0,
    authenticated: (head[5] & flags.authenticated) !== 0,
    streamed: (head[5] & flags.streamed) !== 0,
    metadata: head[12],
    requestContentType: head[13],
    responseContentType: head[14],
  }
}

function quoted(text: Text): Text {
  if (text === null) return null
  const known = quotes.get(text)
  if (known !== undefined) return known
  const quote = JSON.stringify(text)
  if (text.length > longestRemembered || quote.length > text.length + 2) return quote
  if (quotes.size === mostRemembered) quotes.clear()
  // The text itself may be a part of a whole request and keep that in memory.
  quotes.set(quote.slice(1, -1), quote)
  return quote
}

/** Providers, models, paths and types as they were written last: they are few, and to quote them again costs a quarter of a head. */
const quotes = new Map<string, string>()
const mostRemembered = 1000
const longestRemembered = 256

function flagsOf(e: LogSummary, request: Body | null, response: Body | null): number {
  return (
    (e.success ? flags.success : 0) |
    (e.cached ? flags.cached : 0) |
    (e.authenticated ? flags.authenticated : 0) |
    (e.streamed ? flags.streamed : 0) |
    (request?.isCut ? flags.requestIsCut : 0) |
    (response?.isCut ? flags.responseIsCut : 0)
  )
}

function sizeOf(body: Body | null): Count {
  return body === null ? null : body.bytes.length
}
