// A copy of records of the store in a file: a process that starts while the store is unreachable serves with
// the records of the last run instead of nothing.

import { createHash, hash } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { makeFolder } from '../../base/system/folders.ts'
import { nextTurn } from '../../base/turns/turns.ts'
import type { Logger } from '../../log/log.ts'

interface LocalCopyOptions {
  readonly path: string
  /** The start of the file, with the number of its format. */
  readonly mark: string
  readonly words: { readonly unusable: string; readonly written: string; readonly unwritten: string }
  /** The location of the store; a copy of another store is not used. */
  readonly location: string
  readonly log: Logger
  readonly clock: Clock
}

/** Lists of records. */
export type Lists<Content> = { readonly [Kind in keyof Content]: readonly unknown[] }

/** The contents of the file, after a line with its digest. */
type Copied<Content> = Content & {
  readonly location: string
  readonly writtenAt: number
}

/** Delay before a write, which collects further changes, and before a retry, both in ms. */
const delay = 200
const pause = 10_000

export class LocalCopy<Content extends Lists<Content>> {
  readonly #options: LocalCopyOptions
  /** Returns the content to write; null when the file is up to date. */
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

  /** Reads the file; null if it is missing or, which is logged, unusable. */
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

  /** Schedules a write of the content that `lists` returns by then. */
  write(lists: () => Content): void {
    this.#due = lists
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#flush(), delay).unref()
  }

  /** Resolves when nothing is left to write, or writing has failed. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#flush()
  }

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

  /** Writes under another name first, so that no reader finds half a file, even after a power cut. */
  async #writeWhole(lists: Content): Promise<void> {
    const { path, mark, location, clock } = this.#options
    const draft = `${path}.new`
    await makeFolder(dirname(path), 0o700)
    await rm(draft, { force: true })
    await writeDraft(draft, mark, jsonOf({ location, writtenAt: clock.now() }, lists))
    await rename(draft, path)
  }
}

/** Yields the JSON of a copy in pieces not much larger than one record. */
function* jsonOf<Content extends Lists<Content>>(about: object, lists: Content): Generator<string> {
  yield JSON.stringify(about).slice(0, -1)
  for (const [kind, records] of Object.entries<readonly unknown[]>(lists)) {
    yield `,"${kind}":[`
    for (const [at, record] of records.entries()) yield `${at > 0 ? ',' : ''}${JSON.stringify(record)}`
    yield ']'
  }
  yield '}'
}

/** Returns the JSON in a file; throws a sentence if the file is damaged or has another format. */
function contentOf(file: Buffer, mark: string): string {
  const end = file.indexOf('\n') + 1
  const text = file.subarray(end).toString().trimEnd()
  const head = file.toString('latin1', 0, end)
  if (!head.startsWith(`${mark} `)) throw new Error('unknown format')
  if (head !== headOf(mark, hash('sha256', text))) throw new Error('damaged: its digest does not match')
  return text
}

/** Returns the first line, whose length is the same for any digest. */
function headOf(mark: string, digest: string): string {
  return `${mark} ${digest}\n`
}

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
