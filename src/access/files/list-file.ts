// Reads a file of addresses and networks, one per line.

import { createReadStream } from 'node:fs'
import { type AddressTable, AddressTableBuilder } from '../../net/address/address-table.ts'
import { inSlices } from '../../base/turns/slices.ts'

/** Bytes read and parsed at once: about a millisecond's work. */
const chunk = 64 * 1024
/** Max characters of a line, so that other files are not read into memory whole. */
const maxLineLength = 64 * 1024

export interface ListFile {
  readonly table: AddressTable
  /** Whether the last line ends with a line feed; otherwise the file may be incomplete. */
  readonly isEnded: boolean
}

/** Reads a list; rejects with a sentence that names the file and the first faulty line. */
export async function readListFile(path: string): Promise<ListFile> {
  const lines = new ListLines(path)
  try {
    for await (const text of createReadStream(path, { encoding: 'latin1', highWaterMark: chunk }))
      lines.take(text as string)
  } catch (error) {
    if (error instanceof ListFlaw) throw error
    throw new Error(`${path}: cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  const isEnded = lines.end()
  return { table: await inSlices(lines.builder.build()), isEnded }
}

class ListFlaw extends Error {}

class ListLines {
  readonly builder = new AddressTableBuilder()
  readonly #path: string
  #count = 0
  #open = ''

  constructor(path: string) {
    this.#path = path
  }

  take(text: string): void {
    const all = this.#open + text
    let start = 0
    for (let end = all.indexOf('\n'); end !== -1; end = all.indexOf('\n', start)) {
      this.#line(all.slice(start, end))
      start = end + 1
    }
    this.#open = all.slice(start)
    if (this.#open.length > maxLineLength) this.#refuse(this.#count + 1)
  }

  end(): boolean {
    this.#line(this.#open)
    return this.#open === ''
  }

  #line(line: string): void {
    this.#count++
    const comment = line.indexOf('#')
    const member = (comment === -1 ? line : line.slice(0, comment)).trim()
    if (member !== '' && !this.builder.add(member)) this.#refuse(this.#count)
  }

  #refuse(line: number): never {
    throw new ListFlaw(`${this.#path}:${line}: must be an IP address or a CIDR network, one per line`)
  }
}
