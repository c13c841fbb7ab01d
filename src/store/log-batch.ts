// Log entries on their way to a backend, as bytes: it keeps them as they are, or reads them.
import { flags, type Head, headSlices, readHeads, summaryOf } from './log-head.ts'
import type { LogEntry, LogSummary, Payload } from './records.ts'

/** Entries of one gateway in the order in which they came. */
export interface LogBatch {
  readonly count: number
  /** 16 hex digits of each. */
  readonly ids: Buffer
  readonly heads: Buffer
  /** The bodies, entry by entry and the request first. */
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

/** Reads the ids. */
export function idsOf(ids: Buffer): string[] {
  const text = ids.toString('latin1')
  return Array.from({ length: text.length / idSize }, (_, i) => text.slice(i * idSize, (i + 1) * idSize))
}

/** Reads all but the bodies of what comes behind the first `hidden` entries, in slices of which each is work for one turn. */
export function* summarySlices(
  { ids, heads }: Pick<LogBatch, 'ids' | 'heads'>,
  account: string,
  gateway: string,
  hidden = 0,
): Generator<LogSummary[]> {
  const names = idsOf(ids)
  let at = 0
  for (const slice of headSlices(heads)) {
    const first = at
    at += slice.length
    if (at <= hidden) continue
    const shown = slice.map((head, i) => summaryOf(head, names[first + i]!, account, gateway))
    yield first < hidden ? shown.slice(hidden - first) : shown
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
    const [start, middle, end] = [at, at + (head[15] ?? 0), at + (head[15] ?? 0) + (head[16] ?? 0)]
    at = end
    if (only !== undefined && i !== only) continue
    const request = payloadOf(head, 15, flags.requestIsCut, payloads.subarray(start, middle))
    const response = payloadOf(head, 16, flags.responseIsCut, payloads.subarray(middle, end))
    entries.push({ ...summaryOf(head, names[i]!, account, gateway), request, response })
  }
  return entries
}

function payloadOf(head: Head, size: 15 | 16, cut: number, bytes: Buffer): Payload | null {
  return head[size] === null ? null : { text: bytes.toString(), isCut: (head[5] & cut) !== 0 }
}
