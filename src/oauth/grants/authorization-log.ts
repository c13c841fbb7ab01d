// Keeps what happens at the authorization server for each client, written behind the requests, as far as they differ.

import { type Clock, systemClock } from '../../base/clock.ts'
import { newId } from '../../base/ids/id.ts'
import type { Logger } from '../../log/log.ts'
import type { AuthorizationEvent } from '../../store/records/authorization-event.ts'
import type { Store } from '../../store/contract/store.ts'

interface LogParts {
  readonly store: Pick<Store, 'authorizationEvents'>
  readonly log: Logger
  readonly clock?: Clock
}

export type Happening = Omit<AuthorizationEvent, 'id' | 'at'>

/** Ms that an event waits for others. */
const patience = 250
/** Of one client that are written at once, and of all that wait; as many that are unproven, so that they keep nothing else out. */
const mostOfClient = 50
/** Of these of one user and result. */
const mostOfOne = 20
const most = 2_000
/** In characters. */
const longestReason = 2_000

export class AuthorizationLog {
  readonly #store: LogParts['store']
  readonly #log: Logger
  readonly #clock: Clock
  #waiting = new Map<string, AuthorizationEvent[]>()
  readonly #counts = { proven: 0, unproven: 0 }
  #dropped = 0
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> = Promise.resolve()
  #isFailing = false

  constructor({ store, log, clock = systemClock }: LogParts) {
    this.#store = store
    this.#log = log
    this.#clock = clock
  }

  /** Takes an event to keep; never throws, and waits for nothing. Of the same several times in a moment, the last is kept. */
  note(happening: Happening): void {
    const reason = happening.reason?.slice(0, longestReason) ?? null
    const event = { ...happening, reason, id: newId(), at: this.#clock.now() }
    const kind = event.isUnproven ? 'unproven' : 'proven'
    const part = `${event.client} ${kind}`
    let events = this.#waiting.get(part)
    if (events === undefined) this.#waiting.set(part, (events = []))
    const same = events.findIndex(one => isSame(one, event))
    if (same >= 0) events.splice(same, 1, event)
    else if (events.length < mostOfClient && this.#counts[kind] < most && !isCrowded(events, event)) {
      events.push(event)
      this.#counts[kind]++
    } else this.#dropped++
    this.#timer ??= setTimeout(() => this.#flush(), patience).unref()
  }

  /** Writes what waits. */
  async close(): Promise<void> {
    this.#flush()
    await this.#writing
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    const events = [...this.#waiting.values()].flat()
    this.#waiting = new Map()
    this.#counts.proven = this.#counts.unproven = 0
    if (events.length > 0) this.#writing = this.#writing.then(() => this.#write(events))
  }

  async #write(events: readonly AuthorizationEvent[]): Promise<void> {
    try {
      await Promise.all(events.map(event => this.#store.authorizationEvents.append(event)))
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

/** Whether so many are of one user that the rest of the room is for others. */
function isCrowded(events: readonly AuthorizationEvent[], { user, result }: AuthorizationEvent): boolean {
  if (user === null || events.length < mostOfOne) return false
  return events.filter(one => one.user === user && one.result === result).length >= mostOfOne
}

function isSame(one: AuthorizationEvent, other: AuthorizationEvent): boolean {
  if (one.result !== other.result || one.step !== other.step || one.error !== other.error) return false
  return one.user === other.user && one.account === other.account && one.reason === other.reason
}
