// Trusts the store as long as it has all that this machine has seen of it, or an operator accepts it.

import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../log/log.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { originalIdentity } from '../../store/contract/mark.ts'
import { noteOwner } from '../../store/records/store-note.ts'
import { memoryPath, readMemory, type Remembered, writeMemory } from './store-memory.ts'

/** Ms between two checks, and so between two writes. */
const period = 1_000

const unknown = { identity: '0'.repeat(32), generation: 0, last: '', isBehind: false }

export class StoreKeeper {
  readonly #log: Logger
  #store: Store | null = null
  #path: string | null = null
  #recorded: Remembered | null = null
  /** The mark from another location: this store is that one, moved or copied, or an unknown one. */
  #elsewhere: Remembered | null = null
  #isFailing = false
  /** Whether the store was seen without an unfinished copy: none begins in a store that has an account. */
  #isWhole = false
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()
  #unfollow: () => void = () => {}

  constructor(log: Logger) {
    this.#log = log
  }

  /** A machine without a record takes the store as it is. */
  async open(store: Store): Promise<void> {
    this.#store = store
    this.#path = memoryPath(store.location)
    if (this.#path !== null) await this.#remember(store, this.#path)
    await this.#look()
    // What was seen must be on record before an operator can accept less: the file would not differ from it.
    this.#unfollow = store.degradation.follow(() => this.#lookNow())
    this.#lookLater()
  }

  async #remember(store: Store, path: string): Promise<void> {
    try {
      this.#recorded = await readMemory(path)
      if (this.#recorded === null) return
      if (this.#recorded.location === store.location) store.trust.expect(this.#recorded)
      else this.#elsewhere = this.#recorded
    } catch (cause) {
      this.#log.error({ path, reason: (cause as Error).message }, 'memory of the store unusable')
      store.trust.expect(unknown)
    }
  }

  async close(): Promise<void> {
    this.#unfollow()
    clearTimeout(this.#timer)
    await this.#work
    await this.#look()
    clearTimeout(this.#timer)
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#lookNow(), period).unref()
  }

  #lookNow(): void {
    this.#work = this.#work.then(() => this.#look()).finally(() => this.#lookLater())
  }

  async #look(): Promise<void> {
    const store = this.#store!
    const { trust, accounts } = store
    try {
      if (this.#elsewhere !== null) await this.#recognize(this.#elsewhere)
      // A store in doubt is not read.
      if (trust.isDoubted) await this.#takeAccepted()
      this.#isWhole ||= await isWhole(store)
      // A copy gets its identity when it is complete.
      if (!this.#isWhole || this.#path === null) return
      if (trust.seen === null) {
        const mark = await store.adopt()
        // A moved store is thus in doubt even on a machine without a record.
        trust.expect({ ...mark, identity: originalIdentity(mark.identity) })
      }
      await accounts.oldest()
    } catch (cause) {
      // An unreachable store is reported to its callers.
      if (!(cause instanceof StoreUnreachable)) this.#log.error({ err: cause }, 'looking at the store failed')
    }
    if (this.#path !== null) await this.#keep()
  }

  async #recognize(seen: Remembered): Promise<void> {
    const mark = await this.#store!.mark()
    if (mark?.identity === seen.identity) this.#store!.trust.expect(seen)
    this.#elsewhere = null
  }

  /** Applies the acceptance of an operator: the file then differs from what was written here. */
  async #takeAccepted(): Promise<boolean> {
    const memory = await readMemory(this.#path!).catch(() => null)
    if (memory === null || isDeepStrictEqual(memory, this.#recorded)) return false
    // Written by the replacement of this gateway, on another store.
    if (memory.location !== this.#store!.location) return false
    this.#recorded = memory
    this.#store!.trust.expect(memory)
    return true
  }

  async #keep(): Promise<void> {
    const { trust, location } = this.#store!
    const { seen } = trust
    if (seen === null || seen.identity === unknown.identity) return
    const next = { ...seen, location }
    if (isDeepStrictEqual(next, this.#recorded)) return
    // An operator may have accepted the store during this look.
    if (trust.isDoubted && (await this.#takeAccepted())) return
    try {
      await writeMemory(this.#path!, next)
      this.#recorded = next
      if (this.#isFailing) this.#log.info({ path: this.#path }, 'memory of the store written again')
      this.#isFailing = false
    } catch (cause) {
      if (!this.#isFailing)
        this.#log.warn({ path: this.#path, err: cause }, 'memory of the store cannot be written')
      this.#isFailing = true
    }
  }
}

/** Deny rules may be missing until an unfinished copy is complete. Rejects with `StoreUnreachable`. */
async function isWhole(store: Store): Promise<boolean> {
  const note = await store.notes.get(noteOwner, 'copy')
  if (note === null) store.degradation.set('copy_unfinished', null)
  else {
    const { value, createdAt } = note.record
    const begun = new Date(createdAt).toISOString()
    store.degradation.set('copy_unfinished', {
      message: `it holds an unfinished copy of ${value}, begun at ${begun}`,
      remedy: 'Run the same gatehouse store copy again',
    })
  }
  return note === null
}
