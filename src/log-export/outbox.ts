// What waits on the disk for the destination. One sender uses it at a time, and its calls block the thread.

import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { makeFolderSync } from '../base/system/folders.ts'
import { linesIn } from './spool-file.ts'
import {
  batchId,
  batchName,
  bytesOnDisk,
  inOrder,
  readSpoolName,
  type SpoolName,
  settling,
} from './spool-name.ts'

interface OutboxBounds {
  /** Bytes at which a batch is full, before it is compressed. */
  readonly batchSize: number
  /** Bytes of everything that waits. */
  readonly maxDisk: number
}

export interface Batch {
  /** By it, a destination recognizes a batch that it has had before. */
  readonly id: string
  readonly file: string
  readonly entries: number
  /** Lines, compressed. */
  readonly content: Buffer
}

interface Held {
  readonly batch: Batch
  readonly names: readonly SpoolName[]
}

interface Waiting {
  readonly entries: number
  readonly bytes: number
  /** When the first of it was flushed, in ms since the epoch; null if nothing waits. */
  readonly oldest: number | null
}

export class Outbox {
  readonly #folder: string
  readonly #batchFolder: string
  /** Oldest first. */
  #batches: SpoolName[] = []
  /** Flushed by the processes; oldest first, as of the last scan. */
  #flushed: SpoolName[] = []
  /** A batch for which the disk has no room, and the files that it is made of. */
  #held: Held | null = null

  constructor(folder: string) {
    this.#folder = folder
    this.#batchFolder = join(folder, 'batches')
  }

  /** Finds the batches that an earlier sender left, and removes what interrupted writes left. */
  open(now: number): void {
    makeFolderSync(this.#batchFolder, 0o700)
    for (const file of readdirSync(this.#folder)) {
      const path = join(this.#folder, file)
      if (file.endsWith('.rows.tmp') && now - modifiedAt(path) > longestWrite) rmSync(path, { force: true })
    }
    const files = readdirSync(this.#batchFolder)
    for (const file of files) if (file.endsWith('.tmp')) rmSync(join(this.#batchFolder, file))
    this.#batches = namesIn(files)
  }

  get waiting(): Waiting {
    const all = [...this.#batches, ...this.#flushed]
    const sum = (count: (name: SpoolName) => number) => all.reduce((total, name) => total + count(name), 0)
    const [first] = all.sort(inOrder)
    return { entries: sum(({ entries }) => entries), bytes: sum(bytesOnDisk), oldest: first?.due ?? null }
  }

  get hasBatches(): boolean {
    return this.#batches.length > 0 || this.#held !== null
  }

  /**
   * Looks for what the processes have flushed; drops the oldest beyond the bound, and returns how many
   * entries.
   */
  scan({ maxDisk }: OutboxBounds): number {
    this.#flushed = namesIn(readdirSync(this.#folder))
    let excess = [...this.#batches, ...this.#flushed].reduce((sum, name) => sum + bytesOnDisk(name), -maxDisk)
    let dropped = 0
    while (excess > 0) {
      const [folder, names] =
        this.#batches.length > 0 ? [this.#batchFolder, this.#batches] : [this.#folder, this.#flushed]
      const oldest = names[0]!
      rmSync(join(folder, oldest.file), { force: true })
      names.shift()
      dropped += oldest.entries
      excess -= bytesOnDisk(oldest)
    }
    return dropped
  }

  /**
   * Makes batches of what the last scan has found: full ones, and one of the rest if something in it is
   * older than `delay`. Returns how many entries were in damaged files, which are removed.
   */
  form(now: number, delay: number, { batchSize }: OutboxBounds): number {
    if (this.#held !== null) this.#keep(this.#held)
    let lost = 0
    while (this.#held === null) {
      const names: SpoolName[] = []
      let size = 0
      for (const name of this.#flushed) {
        if (size >= batchSize || isSettling(name, now)) break
        names.push(name)
        size += name.bytes
      }
      const [first] = names
      const mayWait =
        first !== undefined && size < batchSize && first.due > now - delay && !isAhead(first, now)
      if (first === undefined || mayWait) return lost
      lost += this.#formOf(names)
    }
    return lost
  }

  /** Returns the oldest batch; null if there is none. */
  next(): Batch | null {
    const [oldest] = this.#batches
    if (oldest === undefined) return this.#held?.batch ?? null
    const content = readFileSync(join(this.#batchFolder, oldest.file))
    const { file, entries } = oldest
    return { id: batchId(file), file, entries, content }
  }

  /** Removes a batch that the destination has confirmed. */
  confirm({ file }: Batch): void {
    if (this.#held?.batch.file === file) {
      this.#forget(this.#held.names)
      this.#held = null
      return
    }
    rmSync(join(this.#batchFolder, file), { force: true })
    this.#batches = this.#batches.filter(name => name.file !== file)
  }

  #formOf(names: readonly SpoolName[]): number {
    const text: Buffer[] = []
    let entries = 0
    let lost = 0
    for (const { file, entries: count } of names) {
      const lines = this.#linesOf(file)
      if (lines === null) lost += count
      else text.push(...lines)
      entries += lines?.length ?? 0
    }
    const content = gzipSync(Buffer.concat(text))
    const file = batchName(names[0]!, entries, content.length)
    if (entries === 0) this.#forget(names)
    else this.#keep({ batch: { id: batchId(file), file, entries, content }, names })
    return lost
  }

  /** Puts a batch on the disk in place of its files; on a full one, it stays in memory until it is sent. */
  #keep(made: Held): void {
    const { file, content } = made.batch
    try {
      write(join(this.#batchFolder, file), content)
    } catch {
      this.#held = made
      return
    }
    this.#held = null
    this.#batches = [...this.#batches.filter(name => name.file !== file), readSpoolName(file)!].sort(inOrder)
    // If this is interrupted, the next start makes another batch of those that are left: at least once.
    this.#forget(made.names)
  }

  #forget(names: readonly SpoolName[]): void {
    for (const { file } of names) rmSync(join(this.#folder, file), { force: true })
    const gone = new Set(names.map(({ file }) => file))
    this.#flushed = this.#flushed.filter(({ file }) => !gone.has(file))
  }

  /**
   * Returns null for a file that is damaged, such as by a power failure. As strings, escaped bodies would be
   * up to twelve times as large, and a thread that lacks the memory ends the whole process.
   */
  #linesOf(file: string): readonly Buffer[] | null {
    try {
      return Array.from(linesIn(readFileSync(join(this.#folder, file))), line => Buffer.from(`${line}\n`))
    } catch (failure) {
      const { code = 'ENOENT' } = failure as NodeJS.ErrnoException
      if (code !== 'ENOENT') throw failure
      return null
    }
  }
}

/** Ms after which no process is still writing a file. */
const longestWrite = 600_000

/** Infinity for a file that is no longer there. */
function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
}

function isSettling(name: SpoolName, now: number): boolean {
  return name.due > now - settling && !isAhead(name, now)
}

/** Whether the clock was set back since the file was flushed: waiting for its time could take years. */
function isAhead({ due }: SpoolName, now: number): boolean {
  return due > now + 2 * settling
}

function write(path: string, content: Buffer): void {
  try {
    const fd = openSync(`${path}.tmp`, 'w', 0o600)
    try {
      writeFileSync(fd, content)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(`${path}.tmp`, path)
  } catch (failure) {
    rmSync(`${path}.tmp`, { force: true })
    throw failure
  }
}

function namesIn(files: readonly string[]): SpoolName[] {
  return files.flatMap(file => readSpoolName(file) ?? []).sort(inOrder)
}
