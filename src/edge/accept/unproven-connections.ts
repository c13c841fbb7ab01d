// Lets only a few new connections of an address be read on HTTP/2 listeners until they show what they are: an
// attack is then recognised by the first of them.

import type { AcceptedConnection } from '../../net/socket/accepted-connection.ts'
import { clientKey } from '../../net/address/client-key.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { ConnectionLimits } from './connection-limits.ts'

/** Of an address before others wait, and the maximum that wait in all. */
const maxNew = 8
const maxWaiting = 1_024
/** Ms for which a silent or busy one makes others wait, and for which any waits. */
const maxSilence = 20
const maxBusy = 1_000
const maxWait = 100
const checkInterval = 2

interface Newcomer {
  readonly peer: string
  /** Nothing yet, more than is read in one turn, or a complete read. */
  readonly progress: 'silent' | 'busy' | 'proven'
}

interface WaitingConnection {
  readonly connection: AcceptedConnection
  readonly peer: string
  readonly until: number
}

interface AddressEntry {
  /** With the monotonic ms of their arrival. */
  readonly newcomers: Map<Newcomer, number>
  readonly waiting: WaitingConnection[]
}

export class Newcomers {
  readonly #plane: Pick<Plane, 'clock' | 'snapshot' | 'log'>
  readonly #limits: ConnectionLimits
  readonly #release: (connection: AcceptedConnection) => void
  readonly #byAddress = new Map<string, AddressEntry>()
  #count = 0
  #waiting = 0
  #timer: NodeJS.Timeout | null = null

  /** Released connections no longer count under any limit; `release` must not throw. */
  constructor(
    plane: Pick<Plane, 'clock' | 'snapshot' | 'log'>,
    limits: ConnectionLimits,
    release: (connection: AcceptedConnection) => void,
  ) {
    this.#plane = plane
    this.#limits = limits
    this.#release = release
  }

  /** Until its release, a held connection counts under the limits. */
  hold(connection: AcceptedConnection): boolean {
    if (this.#count < maxNew || this.#waiting >= maxWaiting) return false
    const { peer } = connection
    const entry = this.#byAddress.get(clientKey(peer))
    const now = this.#plane.clock.monotonic()
    if (entry === undefined || (entry.waiting.length === 0 && this.#countNew(entry, now) < maxNew))
      return false
    if (this.#limits.take(peer, false, connection.descriptor, this.#plane.snapshot.client) !== null)
      return false
    entry.waiting.push({ connection, peer, until: now + maxWait })
    this.#waiting++
    this.#plan()
    return true
  }

  add(newcomer: Newcomer): void {
    const key = clientKey(newcomer.peer)
    let entry = this.#byAddress.get(key)
    if (entry === undefined) {
      entry = { newcomers: new Map(), waiting: [] }
      this.#byAddress.set(key, entry)
    }
    entry.newcomers.set(newcomer, this.#plane.clock.monotonic())
    this.#count++
  }

  replace(former: Newcomer, next: Newcomer): void {
    const entry = this.#byAddress.get(clientKey(former.peer))
    const since = entry?.newcomers.get(former)
    if (entry === undefined || since === undefined) return
    entry.newcomers.delete(former)
    entry.newcomers.set(next, since)
  }

  delete(newcomer: Newcomer): void {
    if (this.#count === 0) return
    const key = clientKey(newcomer.peer)
    const entry = this.#byAddress.get(key)
    if (entry?.newcomers.delete(newcomer) !== true) return
    this.#count--
    this.#deleteIfEmpty(key, entry)
  }

  sweep(): void {
    if (this.#count === 0) return
    const now = this.#plane.clock.monotonic()
    for (const [key, entry] of this.#byAddress) {
      this.#countNew(entry, now)
      this.#deleteIfEmpty(key, entry)
    }
  }

  close(): void {
    clearTimeout(this.#timer ?? undefined)
    this.#timer = null
    for (const { waiting } of this.#byAddress.values()) while (waiting.length > 0) this.#releaseOne(waiting)
  }

  /** Removes those that no longer count. */
  #countNew({ newcomers }: AddressEntry, now: number): number {
    let count = 0
    for (const [newcomer, since] of newcomers) {
      const { progress } = newcomer
      if (progress === 'proven') {
        newcomers.delete(newcomer)
        this.#count--
      } else if (now - since < (progress === 'busy' ? maxBusy : maxSilence)) count++
    }
    return count
  }

  #deleteIfEmpty(key: string, { newcomers, waiting }: AddressEntry): void {
    if (newcomers.size === 0 && waiting.length === 0) this.#byAddress.delete(key)
  }

  #plan(): void {
    this.#timer ??= setTimeout(this.#turn, checkInterval)
  }

  readonly #turn = guarded(
    () => {
      this.#timer = null
      const now = this.#plane.clock.monotonic()
      for (const entry of this.#byAddress.values())
        if (entry.waiting.length > 0) this.#releaseSome(entry, now)
      if (this.#waiting > 0) this.#plan()
    },
    bug => this.#plane.log.error({ err: bug }, 'accepting a client failed: internal error'),
  )

  #releaseSome(entry: AddressEntry, now: number): void {
    const { waiting } = entry
    const free = maxNew - this.#countNew(entry, now)
    for (let count = 0; count < maxNew && waiting.length > 0; count++) {
      if (count >= free && now < waiting[0]!.until) return
      this.#releaseOne(waiting)
    }
  }

  #releaseOne(waiting: WaitingConnection[]): void {
    const { connection, peer } = waiting.shift()!
    this.#waiting--
    this.#limits.leave(peer)
    this.#release(connection)
  }
}
