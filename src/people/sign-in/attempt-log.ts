// Audits failed sign-ins after the response, so that its timing reveals no user; never what was typed.

import { type Clock, systemClock } from '../../base/clock.ts'
import type { Logger } from '../../log/log.ts'
import { strangerAt } from '../../store/records/audit-entry.ts'
import type { AuditAction, ProofFailure, ProofMethod } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Throttle, Throttled } from './throttle.ts'
import { SelfAudit } from '../records/self-audit.ts'
import type { ClientInfo } from '../records/client-info.ts'

interface AttemptLogParts {
  readonly store: Store
  readonly throttle: Throttle
  readonly log: Logger
  readonly clock?: Clock
}

/** What a proof is for. */
export type ProofAction = Extract<AuditAction, 'sign_in' | 'second_step' | 'confirm'>

interface Way {
  readonly action: ProofAction
  readonly method: ProofMethod
}

interface Attempt extends Way {
  readonly email: string
  readonly client: ClientInfo
  readonly at: number
  readonly failure: ProofFailure
}

/** Ms for which an attempt waits for others. */
const batchDelay = 250
const maxQueued = 500
/** No address of a user is longer. */
const maxEmailLength = 254

export class AttemptLog {
  readonly #parts: AttemptLogParts
  readonly #clock: Clock
  readonly #waiting: Attempt[] = []
  #dropped = 0
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #isFailing = false

  constructor(parts: AttemptLogParts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
  }

  telling(email: string, client: ClientInfo, way: Way) {
    return {
      wrong: () => {
        this.note(email, client, { ...way, failure: 'wrong' })
        return { outcome: 'refused' } as const
      },
      throttled: ({ retryAfter, of }: Throttled) => {
        // For an address that tries many users, each attempt was recorded before.
        if (of === 'user') this.note(email, client, { ...way, failure: 'throttled' })
        return { outcome: 'throttled', retryAfter } as const
      },
    }
  }

  /** Queues a failure to be recorded; never throws or waits. */
  note(email: string, client: ClientInfo, failed: Way & { readonly failure: ProofFailure }): void {
    if (email.length > maxEmailLength) return
    if (this.#waiting.length >= maxQueued) this.#dropped++
    else this.#waiting.push({ ...failed, email, client, at: this.#clock.now() })
    this.#timer ??= setTimeout(() => this.#flush(), batchDelay).unref()
  }

  async close(): Promise<void> {
    this.#flush()
    while (this.#writing !== null) await this.#writing
  }

  /** One batch at a time: while the store is slow, at most the next one waits. */
  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#writing !== null || this.#waiting.length === 0) return
    this.#writing = this.#write(this.#waiting.splice(0)).then(() => {
      this.#writing = null
      this.#flush()
    })
  }

  async #write(attempts: readonly Attempt[]): Promise<void> {
    const { log } = this.#parts
    try {
      for (const attempt of attempts) await this.#tell(attempt)
      this.#isFailing = false
    } catch (err) {
      if (!this.#isFailing) log.warn({ err }, 'writing failed sign-ins failed')
      this.#isFailing = true
    }
    if (this.#dropped > 0)
      log.warn({ dropped: this.#dropped }, 'failed sign-ins not written: too many at once')
    this.#dropped = 0
  }

  async #tell({ email, client, at, action, method, failure }: Attempt): Promise<void> {
    const { store, throttle } = this.#parts
    const user = (await store.users.findByEmail(email))?.record
    if (user === undefined) return
    if (failure === 'throttled' && !(await throttle.isFirstToTell(user.id))) return
    const deed = { action, proof: { method, failure }, caller: strangerAt(user) }
    await (await SelfAudit.of(store, user, client, at, deed)).write()
  }
}
