// Detects that something other than SQLite, such as `cp backup.db gatehouse.db`, has written to the files of
// an open database, whose pages SQLite would then mix with its own.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

// Positions in the index of the log (https://www.sqlite.org/walformat.html), in units of four bytes in native
// byte order.
const [mxFrame, nPage, salt, nBackfill, nBackfillAttempted] = [4, 5, 8, 24, 32]
const indexWords = 34
/** The sizes of the log's header, and of the header of each frame, in bytes. */
const [logHead, frameHead] = [32, 24]
const saltInLog = 16
/** The offset of the page count in the database. */
const pageCount = 28

interface Look {
  readonly writtenAt: bigint
  readonly pages: number
  /** The number of pages of the database once the whole log has been moved to it. */
  readonly pagesInIndex: number
  /** Differs after each checkpoint that wrote to the database. */
  readonly checkpoint: string
}

export class ForeignWrites {
  readonly #path: string
  readonly #database: number
  readonly #log: number
  readonly #index: number
  #isClosed = false
  #last: Look | null = null
  /** Stays set: a later checkpoint overwrites pages, but reveals nothing about the others. */
  #finding: string | null = null

  /** Opens the files of a database that is open and has been read; throws if one of them is missing. */
  constructor(path: string) {
    this.#path = path
    this.#database = openSync(path, 'r')
    this.#log = openSync(`${path}-wal`, 'r')
    this.#index = openSync(`${path}-shm`, 'r')
    this.find()
  }

  /** Returns a clause that says which file was written to; null if only SQLite has written. */
  find(): string | null {
    if (!this.#isClosed) this.#finding ??= this.#look()
    return this.#finding
  }

  /** Call after all connections of this process are closed: closing a file releases its locks on it. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    for (const file of [this.#database, this.#log, this.#index]) closeSync(file)
  }

  #look(): string | null {
    const before = this.#readIndex()
    const { mtimeNs: writtenAt } = fstatSync(this.#database, { bigint: true })
    const pages = readAt(this.#database, pageCount, 4).readUInt32BE()
    const isLogOurs = this.#isLogOf(before)
    const index = this.#readIndex()
    // SQLite is writing at this moment; the next check decides.
    if (!before.equals(index)) return null
    if (!isLogOurs) return `${this.#path}-wal was overwritten while it was open`
    const words = wordsOf(index)
    if (words[nBackfill] !== words[nBackfillAttempted]) return null
    const checkpoint = `${words[salt]}:${words[salt + 1]}:${words[nBackfill]}`
    const last = this.#last
    const pagesInIndex = words[nPage]!
    this.#last = { writtenAt, pages, pagesInIndex, checkpoint }
    if (last === null) return null
    const isUnexplained = writtenAt !== last.writtenAt && checkpoint === last.checkpoint
    // A VACUUM truncates the file, and the index shows it; if the index is not filled yet, no VACUUM has run.
    const fewest = Math.min(last.pages, pagesInIndex || last.pages, last.pagesInIndex || last.pages)
    return isUnexplained || pages < fewest ? `${this.#path} was overwritten while it was open` : null
  }

  /** Whether the log is as long as the index says, with the same header. */
  #isLogOf(index: Buffer): boolean {
    const words = wordsOf(index)
    const frames = words[mxFrame]!
    if (frames === 0) return true
    const pageSize = new Uint16Array(index.buffer, index.byteOffset + 14, 1)[0]!
    // 65536 bytes do not fit, and are stored as 1.
    const frame = frameHead + (pageSize === 1 ? 65_536 : pageSize)
    if (fstatSync(this.#log).size < logHead + frames * frame) return false
    return readAt(this.#log, saltInLog, 8).equals(index.subarray(salt * 4, salt * 4 + 8))
  }

  #readIndex(): Buffer {
    return readAt(this.#index, 0, indexWords * 4)
  }
}

function wordsOf(index: Buffer): Uint32Array {
  return new Uint32Array(index.buffer, index.byteOffset, indexWords)
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.from(new ArrayBuffer(length))
  readSync(file, bytes, 0, length, position)
  return bytes
}
