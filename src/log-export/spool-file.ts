// What a process flushes to the spool: rows as the store gets them, which the sender turns into lines.

import { entriesOf, type LogBatch } from '../store/log-batch/batch.ts'
import { callLine } from './lines.ts'

/** The first line of a section: rows follow, one a line, and the bytes of their bodies. */
interface CallsHeader {
  readonly account: string
  readonly gateway: string
  readonly times: readonly number[]
  readonly ids: readonly string[]
  /** Null without bodies. */
  readonly layout: readonly number[] | null
  readonly bodyBytes: number
}

/** The first line of a section with one line of the export. */
interface LineHeader {
  readonly lineBytes: number
}

const newline = Buffer.from('\n')
const noBodies = Buffer.alloc(0)

export function encodeCalls(
  account: string,
  gateway: string,
  { times, ids, rows, layout, bodies }: LogBatch,
  withBodies: boolean,
): readonly Buffer[] {
  const header: CallsHeader = {
    ...{ account, gateway, times, ids },
    ...(withBodies ? { layout, bodyBytes: bodies.length } : { layout: null, bodyBytes: 0 }),
  }
  const text = Buffer.from(`${JSON.stringify(header)}\n${rows.join('\n')}\n`)
  return withBodies ? [text, bodies, newline] : [text, newline]
}

export function encodeLine(line: string): readonly Buffer[] {
  const header: LineHeader = { lineBytes: Buffer.byteLength(line) }
  return [Buffer.from(`${JSON.stringify(header)}\n${line}\n`)]
}

/** Yields the lines of the export in a spool file; throws if it is damaged. */
export function* linesIn(file: Buffer): Generator<string> {
  const reader = new Reader(file)
  while (!reader.isAtEnd) {
    const header = JSON.parse(reader.line()) as CallsHeader | LineHeader
    if ('lineBytes' in header) {
      yield reader.bytes(header.lineBytes).toString()
      continue
    }
    const { account, gateway, times, ids, bodyBytes } = header
    const rows = ids.map(() => reader.line())
    const bodies = reader.bytes(bodyBytes)
    const layout = header.layout ?? new Array<number>(3 * ids.length).fill(-1)
    const batch = { times, ids, rows, layout, bodies: bodies ?? noBodies, isRepeated: false }
    for (const entry of entriesOf(batch, account, gateway)) yield callLine(entry)
  }
}

class Reader {
  readonly #file: Buffer
  #at = 0

  constructor(file: Buffer) {
    this.#file = file
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#file.length
  }

  line(): string {
    const end = this.#file.indexOf(0x0a, this.#at)
    if (end === -1) throw new Error('the file ends within a line')
    const line = this.#file.toString('utf8', this.#at, end)
    this.#at = end + 1
    return line
  }

  /** Reads so many bytes, and the end of line behind them. */
  bytes(count: number): Buffer {
    const end = this.#at + count
    if (this.#file[end] !== 0x0a) throw new Error('the file ends within its bodies')
    const bytes = this.#file.subarray(this.#at, end)
    this.#at = end + 1
    return bytes as Buffer
  }
}
