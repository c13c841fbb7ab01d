// Keeps what a process knows of some records up with the store, so that no request asks it. While the store is unreachable, what is known stays in use.

import type { Logger } from '../../log/log.ts'
import type { Lists, LocalCopy } from './local-copy.ts'
import { type Change, type Store, StoreUnreachable } from '../contract/store.ts'

interface Followed<Name, Content extends Lists<Content>> {
  readonly store: Store
  readonly log: Logger
  /** What the log says. */
  readonly words: FollowerWords
  /** For a start while the store is unreachable; null for none. */
  readonly copy: LocalCopy<Content> | null
  /** Names the record that a change is about; null for one that is not followed. */
  readonly nameOf: (change: Change) => Name | null
  readonly readAll: () => Promise<void>
  /** Reads records that have changed; one may come several times. */
  readonly readThese: (names: readonly Name[]) => Promise<void>
  /** Takes the copy of last time, since nothing was read. */
  readonly takeCopy: (content: Content) => void
}

interface FollowerWords {
  /** Followed by what is wrong with the store. */
  readonly unread: string
  readonly failed: string
  readonly again: string
  /** There is no copy either. */
  readonly unknown: string
  readonly loaded: string
}

/** Ms between two tries to read. */
const pause = 1_000

export class Follower<Name, Content extends Lists<Content>> {
  readonly #followed: Followed<Name, Content>
  /** What was told and not read yet. */
  #due: Name[] = []
  #isAllDue = true
  #isRead = false
  #reading: Promise<void> | null = null
  #timer: NodeJS.Timeout | undefined
  #unfollow: (() => void) | null = null
  /** Whether the last reading failed: the log is told of an outage once. */
  #isFailing = false
  #isClosed = false

  constructor(followed: Followed<Name, Content>) {
    this.#followed = followed
  }

  /** Whether all was read since the start. */
  get isRead(): boolean {
    return this.#isRead
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Resolves when all was read, or could not be and the copy of last time was taken, where there is one; reading is tried again from then on. */
  async open(): Promise<void> {
    this.#unfollow = this.#followed.store.changes.follow(change => this.#note(change))
    await this.#look()
    if (!this.#isRead) await this.#takeCopy()
  }

  /** Reads a record now, with what was told and not read yet. */
  async refresh(name: Name): Promise<void> {
    this.#due.push(name)
    await this.#reading
    await this.#look()
  }

  /** Resolves when the copy is written, as far as it is due. */
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
    // So that what is told in one turn is read together.
    await null
    try {
      while ((this.#isAllDue || this.#due.length > 0) && !this.#isClosed) await this.#readDue()
      this.#succeed()
    } catch (failure) {
      this.#fail(failure)
    }
    this.#reading = null
  }

  /** Reads what was told until now; what is told meanwhile is due again, since it may have been read before it was written. */
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
    // The store may have come back meanwhile.
    if (this.#isRead || this.#isClosed) return
    if (content === null) return log.warn(words.unknown)
    takeCopy(content)
    const writtenAt = new Date(content.writtenAt).toISOString()
    log.warn({ path: copy!.path, writtenAt }, words.loaded)
  }
}
