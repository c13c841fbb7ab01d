// Address lists and geographic databases, in memory and reloaded when they change.

import type { Tally } from '../../metrics/counters/distribution.ts'
import type { Logger } from '../../log/log.ts'
import { ConfigWatch } from '../../config/file/watch.ts'

interface WatchedFilesOptions<T> {
  readonly noun: string
  /** Rejects with a sentence that names the file. */
  readonly read: (path: string) => Promise<T>
  /** Returns a warning about new content, unless the previous content had the same flaw. */
  readonly doubt?: (before: T, now: T) => string | null
  readonly changed?: () => void
  readonly log: Logger
  readonly reloads: Readonly<Record<'success' | 'failure', Tally>>
}

export interface WatchedFile<T> {
  readonly content: T
}

export class WatchedFiles<T> {
  readonly #options: WatchedFilesOptions<T>
  readonly #files = new Map<string, OpenFile<T>>()

  constructor(options: WatchedFilesOptions<T>) {
    this.#options = options
  }

  /** Reads and watches new files; if one is invalid, rejects and changes nothing. */
  async open(paths: Iterable<string>): Promise<void> {
    const opened: OpenFile<T>[] = []
    try {
      for (const path of new Set(paths)) {
        if (this.#files.has(path)) continue
        const file = new OpenFile(path, this.#options)
        opened.push(file)
        await file.load()
      }
    } catch (error) {
      for (const file of opened) file.close()
      throw error
    }
    for (const file of opened) this.#files.set(file.path, file)
  }

  /** Returns an open file, the same object at each call; throws for another path. */
  get(path: string): WatchedFile<T> {
    const file = this.#files.get(path)
    if (file === undefined) throw new Error(`${path} is not open`)
    return file
  }

  keep(paths: Iterable<string>): void {
    const current = new Set(paths)
    for (const [path, file] of this.#files) {
      if (current.has(path)) continue
      file.close()
      this.#files.delete(path)
    }
  }
}

class OpenFile<T> implements WatchedFile<T> {
  readonly path: string
  content: T = undefined as T // until `load` settles; nobody gets hold of it before
  readonly #options: WatchedFilesOptions<T>
  readonly #watch: ConfigWatch
  #loads = 0

  /** Starts watching before it reads, so that no change in between is missed. */
  constructor(path: string, options: WatchedFilesOptions<T>) {
    const { noun, log } = options
    this.path = path
    this.#options = options
    this.#watch = new ConfigWatch([path], () => this.#reload(), {
      failed: err => log.warn({ err, path }, `file watch failed, changes of the ${noun} may go unnoticed`),
    })
  }

  async load(): Promise<void> {
    const load = ++this.#loads
    const content = await this.#options.read(this.path)
    // A later read may have finished first, with newer content.
    if (load === this.#loads) this.content = content
  }

  close(): void {
    this.#watch.close()
  }

  async #reload(): Promise<void> {
    const { noun, doubt, changed, log, reloads } = this.#options
    const { path, content: before } = this
    try {
      await this.load()
      changed?.()
      reloads.success.inc()
      const reason = doubt?.(before, this.content) ?? null
      if (reason === null) log.info({ path }, `${noun} reloaded`)
      else log.warn({ path, reason }, `${noun} reloaded, but it may be incomplete`)
    } catch (error) {
      reloads.failure.inc()
      const reason = (error as Error).message
      log.error({ reason }, `reloading the ${noun} failed, keeping the previous version`)
    }
  }
}
