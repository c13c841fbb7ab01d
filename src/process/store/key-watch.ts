// Records the key of client secrets in the store: a machine without it would refuse valid clients.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Logger } from '../../log/log.ts'
import { writeKeyNote, keyNoteOf } from '../../store/contract/key-note.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'

/** Ms between two checks. */
const period = 1_000

const remedy =
  'Give this machine the key that the store names as its `secrets.key`, its present one in `secrets.old_keys`, and restart it; if the key of the store is lost, run `gatehouse store accept` on this machine'

export class KeyWatch {
  readonly #store: Store
  readonly #keys: SecretKeys
  readonly #log: Logger
  #isServing = false
  /** Machines that know each other's keys would otherwise replace the current one in turns. */
  #isNamed = false
  #timer: NodeJS.Timeout | undefined
  #work: Promise<void> = Promise.resolve()

  constructor(store: Store, keys: SecretKeys, log: Logger) {
    this.#store = store
    this.#keys = keys
    this.#log = log
  }

  async open(): Promise<void> {
    await this.#look()
    this.#lookLater()
  }

  /** Lets the current key replace an earlier one, once the previous gateway has stopped its checks. */
  serve(): void {
    this.#isServing = true
    this.#lookLater()
  }

  async close(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#work
    clearTimeout(this.#timer)
  }

  #lookLater(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#work = this.#look().finally(() => this.#lookLater())
    }, period).unref()
  }

  async #look(): Promise<void> {
    try {
      await this.#compare()
    } catch (cause) {
      // An unreachable store is reported to its callers.
      if (!(cause instanceof StoreUnreachable))
        this.#log.error({ err: cause }, 'comparing the key of client secrets with the store failed')
    }
  }

  async #compare(): Promise<void> {
    const { notes, degradation } = this.#store
    const { currentId } = this.#keys
    const note = await keyNoteOf(notes)
    const named = note?.record.value ?? null
    const isKnown = named === null || this.#keys.knows(named)
    degradation.set(
      'other_secrets_key',
      isKnown
        ? null
        : {
            message: `the store names ${named} as the key of client secrets, and this machine has ${currentId}`,
            remedy,
          },
    )
    if (named === currentId) this.#isNamed = true
    if (named === null || (isKnown && this.#isServing && !this.#isNamed)) {
      this.#isNamed = await writeKeyNote(notes, note, currentId, Date.now())
      if (named === null || !this.#isNamed) return
      this.#log.info({ key: currentId, before: named }, 'key of client secrets replaced in the store')
    }
  }
}
