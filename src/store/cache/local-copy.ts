// A copy of records of the store in a file: a process that starts while the store is unreachable serves with what it had last time instead of nothing.

import { createHash, hash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import type { Logger } from '../../log/log.ts'

interface LocalCopyOptions {
  readonly path: string
  /** The beginning of the file, with the number of its format. */
  readonly mark: string
  /** What the log says. */
  readonly words: { readonly unusable: string; readonly written: string; readonly unwritten: string }
  /** Where the store is: the copy of another one is not taken. */
  readonly location: string
  readonly log: Logger
  readonly clock: Clock
}

/** Lists of records. */
export type Lists<Content> = { readonly [Kind in keyof Content]: readonly unknown[] }

/** What is in the file, behind a line with its digest. */
type Copied<Content> = Content & {
  readonly location: string
  /** Ms since the epoch. */
  readonly writtenAt: number
}

/** Ms from a change to the write, in which more may come, and until the next try of one that failed. */
const delay = 200
const pause = 10_000

export class LocalCopy<Content extends Lists<Content>> {
  readonly #options: LocalCopyOptions
  /** Returns what is to be written; null when the file has it. */
  #due: (() => Content) | null = null
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #isFailing = false
  #isClosed = false

  constructor(options: LocalCopyOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /** Reads the file; null where there is none, or none that can be used, which is logged. */
  async read(): Promise<Copied<Content> | null> {
    const { path, location, log, mark, words } = this.#options
    try {
      const copy: Copied<Content> = JSON.parse(contentOf(await readFile(path), mark))
      if (copy.location !== location) throw new Error(`copy of another store, ${copy.location}`)
      return copy
    } catch (failure) {
      const { code, message } = failure as NodeJS.ErrnoException
      if (code !== 'ENOENT') log.error({ path, reason: message }, words.unusable)
      return null
    }
  }

  /** Writes soon what is given then. */
  write(lists: () => Content): void {
    this.#due = lists
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#flush(), delay).unref()
  }

  /** Resolves when nothing is left to be written, or that has failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#flush()
  }

  /** Writes what is due behind what is being written. */
  #flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    return (this.#writing = this.#writing.then(() => this.#writeDue()))
  }

  async #writeDue(): Promise<void> {
    const { path, log, words } = this.#options
    const lists = this.#due
    if (lists === null) return
    this.#due = null
    try {
      await this.#writeWhole(lists())
      if (this.#isFailing) log.info({ path }, words.written)
      this.#isFailing = false
    } catch (failure) {
      if (!this.#isFailing) log.warn({ path, err: failure }, words.unwritten)
      this.#isFailing = true
      this.#due ??= lists
      if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#flush(), pause).unref()
    }
  }

  /** Writes under another name first, so that a reader finds the old file or the new one, also after a power cut. */
  async #writeWhole(lists: Content): Promise<void> {
    const { path, mark, location, clock } = this.#options
    const draft = `${path}.new`
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await rm(draft, { force: true })
    await writeDraft(draft, mark, jsonOf({ location, writtenAt: clock.now() }, lists))
    await rename(draft, path)
  }
}

/** Writes the JSON of a copy in pieces, none of which is much larger than one record. */
function* jsonOf<Content extends Lists<Content>>(about: object, lists: Content): Generator<string> {
  yield JSON.stringify(about).slice(0, -1)
  for (const [kind, records] of Object.entries<readonly unknown[]>(lists)) {
    yield `,"${kind}":[`
    for (const [at, record] of records.entries()) yield `${at > 0 ? ',' : ''}${JSON.stringify(record)}`
    yield ']'
  }
  yield '}'
}

/** Returns the JSON in a file; throws a sentence for one that is not as it was written. */
function contentOf(file: Buffer, mark: string): string {
  const end = file.indexOf('\n') + 1
  const text = file.subarray(end).toString().trimEnd()
  const head = file.toString('latin1', 0, end)
  if (!head.startsWith(`${mark} `)) throw new Error('unknown format')
  if (head !== headOf(mark, hash('sha256', text))) throw new Error('damaged: its digest does not match')
  return text
}

/** Returns the first line, which is as long for any digest. */
function headOf(mark: string, digest: string): string {
  return `${mark} ${digest}\n`
}

/** Writes a new file that only its owner may read, onto the disk. All of it may be large, so that requests have their turns between. */
async function writeDraft(path: string, mark: string, pieces: Iterable<string>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const digest = createHash('sha256')
    await file.writeFile(headOf(mark, '0'.repeat(64)))
    for (const piece of pieces) {
      await nextTurn()
      const bytes = Buffer.from(piece)
      digest.update(bytes)
      await file.writeFile(bytes)
    }
    await file.writeFile('\n')
    await file.write(headOf(mark, digest.digest('hex')), 0)
    await file.sync()
  } finally {
    await file.close()
  }
}
