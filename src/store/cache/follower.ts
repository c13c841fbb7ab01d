// Keeps a process's own copy of some records in step with the store, so that requests need no query. While
// the store is unreachable, the last known records stay in use.

import type { Logger } from '../../log/log.ts'
import type { Lists, LocalCopy } from './local-copy.ts'
import { type Change, type Store, StoreUnreachable } from '../contract/store.ts'

interface Followed<Name, Content extends Lists<Content>> {
  readonly store: Store
  readonly log: Logger
  readonly words: FollowerWords
  /** Used when the process starts while the store is unreachable; null for none. */
  readonly copy: LocalCopy<Content> | null
  /** Returns the name of the record that a change concerns; null for one that is not followed. */
  readonly nameOf: (change: Change) => Name | null
  readonly readAll: () => Promise<void>
  readonly readThese: (names: readonly Name[]) => Promise<void>
  /** Uses the copy of the last run, as nothing could be read. */
  readonly takeCopy: (content: Content) => void
}

interface FollowerWords {
  /** Followed by the state of the store. */
  readonly unread: string
  readonly failed: string
  readonly again: string
  /** Logged when there is no copy either. */
  readonly unknown: string
  readonly loaded: string
}

/** Delay between two attempts to read, in ms. */
const pause = 1_000

export class Follower<Name, Content extends Lists<Content>> {
  readonly #followed: Followed<Name, Content>
  /** Reported changes that have not been read yet. */
  #due: Name[] = []
  #isAllDue = true
  #isRead = false
  #reading: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #unfollow: (() => void) | null = null
  /** Whether the last read failed, so that an outage is logged once. */
  #isFailing = false
  #isClosed = false

  constructor(followed: Followed<Name, Content>) {
    this.#followed = followed
  }

  /** Whether everything has been read since the start. */
  get isRead(): boolean {
    return this.#isRead
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves when everything has been read, or reading failed and the local copy, if any, is in use. */
  async open(): Promise<void> {
    this.#unfollow = this.#followed.store.changes.follow(change => this.#note(change))
    await this.#look()
    if (!this.#isRead) await this.#takeCopy()
  }

  /** Reads a record now, together with the reported changes that have not been read yet. */
  async refresh(name: Name): Promise<void> {
    this.#due.push(name)
    await this.#reading
    await this.#look()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#unfollow?.()
    clearTimeout(this.#timer)
    await this.#followed.copy?.close()
  }

  #note(change: Change): void {
    const name = change.kind === 'everything' ? null : this.#followed.nameOf(change)
    if (change.kind === 'everything') this.#isAllDue = true
    else if (name !== null) this.#due.push(name)
    else return
    void this.#look()
  }

  #look(): Promise<void> {
    return (this.#reading ??= this.#readWhileDue())
  }

  async #readWhileDue(): Promise<void> {
    clearTimeout(this.#timer)
    // Changes that are reported in the same turn are read together.
    await null
    try {
      while ((this.#isAllDue || this.#due.length > 0) && !this.#isClosed) await this.#readDue()
      this.#succeed()
    } catch (failure) {
      this.#fail(failure)
    }
    this.#reading = null
  }

  /** Reads the changes reported so far. A change reported during the read becomes due again. */
  async #readDue(): Promise<void> {
    const [isAllDue, due] = [this.#isAllDue, this.#due]
    this.#isAllDue = false
    this.#due = []
    try {
      await (isAllDue ? this.#followed.readAll() : this.#followed.readThese(due))
      this.#isRead = true
    } catch (failure) {
      this.#isAllDue = true
      throw failure
    }
  }

  #succeed(): void {
    const { log, words } = this.#followed
    if (this.#isFailing) log.info(words.again)
    this.#isFailing = false
  }

  #fail(failure: unknown): void {
    if (this.#isClosed) return
    const { log, words } = this.#followed
    if (!this.#isFailing) {
      if (failure instanceof StoreUnreachable)
        log.warn({ reason: failure.reason }, `${words.unread}: ${failure.state}`)
      else log.error({ err: failure }, words.failed)
    }
    this.#isFailing = true
    this.#timer = setTimeout(() => this.#look(), pause).unref()
  }

  async #takeCopy(): Promise<void> {
    const { log, words, copy, takeCopy } = this.#followed
    const content = (await copy?.read()) ?? null
    // The store may have recovered in the meantime.
    if (this.#isRead || this.#isClosed) return
    if (content === null) return log.warn(words.unknown)
    takeCopy(content)
    const writtenAt = new Date(content.writtenAt).toISOString()
    log.warn({ path: copy!.path, writtenAt }, words.loaded)
  }
}
