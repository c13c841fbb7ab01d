// Log entries on their way to a backend, as bytes: it keeps them as they are, or reads them.

import { flags, headSlices, readHeads, readTimes, summaryOf } from './head.ts'
import type { LogEntry, LogSummary, Payload } from '../records/records.ts'

/** Entries of one gateway in the order in which they came. */
export interface LogBatch {
  readonly count: number
  /** 16 hex digits of each. */
  readonly ids: Buffer
  readonly heads: Buffer
  /** The bodies, entry by entry: the request, what the caller got, and what the provider sent if that is something else. */
  readonly payloads: Buffer
  /** The least and the greatest `createdAt`. */
  readonly earliest: number
  readonly latest: number
  /** Whether an append of some of them was tried before and nobody knows what became of it. */
  readonly isRepeated: boolean
}

/** Bytes of an id. */
export const idSize = 16

/** Joins two batches of one gateway. */
export function joined(first: LogBatch, second: LogBatch): LogBatch {
  return {
    count: first.count + second.count,
    ids: Buffer.concat([first.ids, second.ids]),
    heads: Buffer.concat([first.heads, second.heads]),
    payloads: Buffer.concat([first.payloads, second.payloads]),
    earliest: Math.min(first.earliest, second.earliest),
    latest: Math.max(first.latest, second.latest),
    isRepeated: first.isRepeated || second.isRepeated,
  }
}

/** Reads when each entry was made. */
export function timesOf({ ids, heads }: Pick<LogBatch, 'ids' | 'heads'>): Float64Array {
  return readTimes(heads, ids.length / idSize)
}

/** Reads the ids. */
export function idsOf(ids: Buffer): string[] {
  const text = ids.toString('latin1')
  return Array.from({ length: text.length / idSize }, (_, i) => text.slice(i * idSize, (i + 1) * idSize))
}

/** Reads the id at one place. */
export function idAt(ids: Buffer, place: number): string {
  return ids.toString('latin1', place * idSize, (place + 1) * idSize)
}

/** Reads all but the bodies of what is shown, in slices of which each is work for one turn. */
export function* summarySlices(
  { ids, heads }: Pick<LogBatch, 'ids' | 'heads'>,
  account: string,
  gateway: string,
  isShown: (place: number) => boolean = () => true,
): Generator<LogSummary[]> {
  const names = idsOf(ids)
  let first = 0
  for (const slice of headSlices(heads)) {
    const shown: LogSummary[] = []
    for (const [i, head] of slice.entries())
      if (isShown(first + i)) shown.push(summaryOf(head, names[first + i]!, account, gateway))
    first += slice.length
    if (shown.length > 0) yield shown
  }
}

/** Reads everything, or only the entry at one place. */
export function entriesOf(
  { ids, heads, payloads }: Pick<LogBatch, 'ids' | 'heads' | 'payloads'>,
  account: string,
  gateway: string,
  only?: number,
): LogEntry[] {
  const names = idsOf(ids)
  const entries: LogEntry[] = []
  let at = 0
  for (const [i, head] of readHeads(heads).entries()) {
    const start = at
    const sizes = [head[15] ?? null, head[16] ?? null, head[19] ?? null] as const
    for (const size of sizes) at += size ?? 0
    if (only !== undefined && i !== only) continue
    let from = start
    const [request, response, providerResponse] = sizes.map((size, body) => {
      if (size === null) return null
      from += size
      return payloadOf(payloads.subarray(from - size, from), head[5], bodyFlags[body]!)
    })
    entries.push({
      ...summaryOf(head, names[i]!, account, gateway),
      request: request!,
      response: response!,
      providerResponse: providerResponse!,
    })
  }
  return entries
}

/** Of the bodies in their order. */
const bodyFlags = [
  { isCut: flags.requestIsCut, isBinary: flags.requestIsBinary },
  { isCut: flags.responseIsCut, isBinary: flags.responseIsBinary },
  { isCut: flags.providerResponseIsCut, isBinary: flags.providerResponseIsBinary },
]

function payloadOf(bytes: Buffer, set: number, { isCut, isBinary }: (typeof bodyFlags)[number]): Payload {
  const isBase64 = (set & isBinary) !== 0
  const payload = { text: bytes.toString(isBase64 ? 'base64' : 'utf8'), isCut: (set & isCut) !== 0 }
  return isBase64 ? { ...payload, isBase64 } : payload
}
