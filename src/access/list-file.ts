// Reads a file of addresses and networks, one a line.

import { createReadStream } from 'node:fs'
import { type AddressTable, AddressTableBuilder } from '../base/address/address-table.ts'
import { inSlices } from '../base/turns/slices.ts'

/** Bytes that are read and understood at once: about a millisecond's work. */
const chunk = 64 * 1024
/** Characters of a line, so that a file that is no list is not gathered whole. */
const longestLine = 64 * 1024

/** What a file of addresses says. */
export interface ListFile {
  readonly table: AddressTable
  /** Whether its last line ends, as tools write it: where it does not, the file may be half of one. */
  readonly isEnded: boolean
}

/** Reads a list; rejects with a sentence that names the file, and the line that is neither address, network, comment nor blank. */
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
  /** The line whose end has not come yet. */
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
    if (this.#open.length > longestLine) this.#refuse(this.#count + 1)
  }

  /** Takes the line that has no end; tells whether there was none. */
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
