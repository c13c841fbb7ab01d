// The copy of what is set for zones, in a file: a process that starts while the store is unreachable serves with the rules of last time instead of none.

import { createHash, hash } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { nextTurn } from '../base/turns/turns.ts'
import type { Clock } from '../base/clock.ts'
import type { Logger } from '../log/log.ts'
import { type ZoneRecordLists, zoneRecordKinds } from './known-zones.ts'

interface ZoneCopyOptions {
  readonly path: string
  /** Where the store is: the copy of another one is not taken. */
  readonly location: string
  readonly log: Logger
  readonly clock: Clock
}

/** What is in the file, behind a line with its digest. */
interface CopiedZones extends ZoneRecordLists {
  readonly location: string
  /** Ms since the epoch. */
  readonly writtenAt: number
}

/** The beginning of the file, with the number of its format. */
const mark = 'gatehouse-zones-1'
/** Ms from a change to the write, in which more may come, and until the next try of one that failed. */
const delay = 200
const pause = 10_000

export class ZoneCopy {
  readonly #options: ZoneCopyOptions
  /** Returns what is to be written; null when the file has it. */
  #due: (() => ZoneRecordLists) | null = null
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #isFailing = false
  #isClosed = false

  constructor(options: ZoneCopyOptions) {
    this.#options = options
  }

  get path(): string {
    return this.#options.path
  }

  /** Reads the file; null where there is none, or none that can be used, which is logged. */
  async read(): Promise<CopiedZones | null> {
    const { path, location, log } = this.#options
    try {
      const copy = contentOf(await readFile(path))
      if (copy.location !== location) throw new Error(`copy of another store, ${copy.location}`)
      return copy
    } catch (failure) {
      const { code, message } = failure as NodeJS.ErrnoException
      if (code !== 'ENOENT') log.error({ path, reason: message }, 'local copy of API-managed rules unusable')
      return null
    }
  }

  /** Writes soon what is given then. */
  write(lists: () => ZoneRecordLists): void {
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
    const { path, location, log, clock } = this.#options
    const lists = this.#due
    if (lists === null) return
    this.#due = null
    try {
      await writeWhole(path, { location, writtenAt: clock.now(), ...lists() })
      if (this.#isFailing) log.info({ path }, 'local copy of API-managed rules written again')
      this.#isFailing = false
    } catch (failure) {
      if (!this.#isFailing)
        log.warn({ path, err: failure }, 'writing the local copy of API-managed rules failed')
      this.#isFailing = true
      this.#due ??= lists
      if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#flush(), pause).unref()
    }
  }
}

/** Writes the JSON of a copy in pieces, none of which is much larger than one record. */
function* jsonOf({ location, writtenAt, ...lists }: CopiedZones): Generator<string> {
  yield JSON.stringify({ location, writtenAt }).slice(0, -1)
  for (const kind of zoneRecordKinds) {
    yield `,"${kind}":[`
    for (const [at, record] of lists[kind].entries()) yield `${at > 0 ? ',' : ''}${JSON.stringify(record)}`
    yield ']'
  }
  yield '}'
}

/** Throws a sentence for a file that is not as it was written. */
function contentOf(file: Buffer): CopiedZones {
  const end = file.indexOf('\n') + 1
  const text = file.subarray(end).toString().trimEnd()
  const head = file.toString('latin1', 0, end)
  if (!head.startsWith(`${mark} `)) throw new Error('unknown format')
  if (head !== headOf(hash('sha256', text))) throw new Error('damaged: its digest does not match')
  return JSON.parse(text)
}

/** Returns the first line, which is as long for any digest. */
function headOf(digest: string): string {
  return `${mark} ${digest}\n`
}

/** Writes under another name first, so that a reader finds the old file or the new one, also after a power cut. */
async function writeWhole(path: string, copy: CopiedZones): Promise<void> {
  const draft = `${path}.new`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  await rm(draft, { force: true })
  await writeDraft(draft, copy)
  await rename(draft, path)
}

/** Writes a new file that only its owner may read, onto the disk. All of it may be large, so that requests have their turns between. */
async function writeDraft(path: string, copy: CopiedZones): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    const digest = createHash('sha256')
    await file.writeFile(headOf('0'.repeat(64)))
    for (const piece of jsonOf(copy)) {
      await nextTurn()
      const bytes = Buffer.from(piece)
      digest.update(bytes)
      await file.writeFile(bytes)
    }
    await file.writeFile('\n')
    await file.write(headOf(digest.digest('hex')), 0)
    await file.sync()
  } finally {
    await file.close()
  }
}
