// The events of each client at the authorization server, written in the background; repeated ones count once.

import { type Clock, systemClock } from '../../base/clock.ts'
import { isDocumentId } from '../clients/document-url.ts'
import { newId } from '../../base/ids/id.ts'
import type { Logger } from '../../log/log.ts'
import type { AuthorizationEvent } from '../../store/records/authorization-event.ts'
import type { Store } from '../../store/contract/store.ts'

interface LogParts {
  readonly store: Pick<Store, 'authorizationEvents'>
  readonly log: Logger
  readonly clock?: Clock
}

export type AuthorizationOutcome = Omit<AuthorizationEvent, 'id' | 'at'>

/** How long events are collected before they are written, in ms. */
const delay = 250
/**
 * Events per write of one client, and of these of one user and result. Unproven events have limits of their
 * own.
 */
const maxOfClient = 50
const maxOfUser = 20
const maxWaiting = 2_000
const maxReason = 2_000
/** Writes at once, so that a flood of events leaves room for those of others. */
const maxAtOnce = 100

export class AuthorizationLog {
  readonly #store: LogParts['store']
  readonly #log: Logger
  readonly #clock: Clock
  #waiting = new Map<string, AuthorizationEvent[]>()
  readonly #counts = { proven: 0, unproven: 0 }
  #dropped = 0
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor({ store, log, clock = systemClock }: LogParts) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** Records an event soon; never throws. Of equal events within the delay, the last is written. */
  note(outcome: AuthorizationOutcome): void {
    // No account owns the client, so that nobody could read them.
    if (isDocumentId(outcome.client)) return
    const reason = outcome.reason?.slice(0, maxReason) ?? null
    const event = { ...outcome, reason, id: newId(), at: this.#clock.now() }
    const kind = event.isUnproven ? 'unproven' : 'proven'
    const part = `${event.client} ${kind}`
    let events = this.#waiting.get(part)
    if (events === undefined) this.#waiting.set(part, (events = []))
    const same = events.findIndex(one => isSame(one, event))
    if (same >= 0) events.splice(same, 1, event)
    else if (events.length < maxOfClient && this.#counts[kind] < maxWaiting && !isCrowded(events, event)) {
      events.push(event)
      this.#counts[kind]++
    } else this.#dropped++
    this.#timer ??= setTimeout(() => this.#flush(), delay).unref()
  }

  async close(): Promise<void> {
    this.#flush()
    await this.#writing
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#writing = this.#writing.then(() => this.#write())
  }

  async #write(): Promise<void> {
    const events = [...this.#waiting.values()].flat()
    if (events.length === 0) return
    this.#waiting = new Map()
    this.#counts.proven = this.#counts.unproven = 0
    try {
      for (let at = 0; at < events.length; at += maxAtOnce) {
        const some = events.slice(at, at + maxAtOnce)
        await Promise.all(some.map(event => this.#store.authorizationEvents.append(event)))
      }
      this.#isFailing = false
    } catch (err) {
      if (!this.#isFailing) this.#log.warn({ err }, 'writing authorization events failed')
      this.#isFailing = true
    }
    if (this.#dropped > 0)
      this.#log.warn({ dropped: this.#dropped }, 'authorization events dropped: too many at once')
    this.#dropped = 0
  }
}

/** Whether one user has as many events as they may, so that others have room. */
function isCrowded(events: readonly AuthorizationEvent[], { user, result }: AuthorizationEvent): boolean {
  const isOfUser = (one: AuthorizationEvent) => one.user === user && one.result === result
  return user !== null && events.filter(isOfUser).length >= maxOfUser
}

function isSame(one: AuthorizationEvent, other: AuthorizationEvent): boolean {
  if (one.result !== other.result || one.step !== other.step || one.error !== other.error) return false
  return one.user === other.user && one.account === other.account && one.reason === other.reason
}
