// Connections of HTTP/2 listeners that have yet to show what they are about: only a few per address at a
// time, so that an attack with many at once is recognised by the first of them, before anything of the others
// is read.

import type { AcceptedConnection } from '../../net/socket/accepted-connection.ts'
import { clientKey } from '../../net/address/client-key.ts'
import { guarded } from '../../base/guarded.ts'
import type { Plane } from '../snapshot/plane.ts'
import type { ConnectionLimits } from './connection-limits.ts'

/** New connections of an address before others wait, and the maximum that wait in all. */
const maxNew = 8
const maxWaiting = 1_024
/**
 * Ms after which a silent or busy connection no longer makes others wait, and the ms that any waits at most:
 * many clients may share an address.
 */
const maxSilence = 20
const maxBusy = 1_000
const maxWait = 100
/** Ms between two checks of those that wait. */
const checkInterval = 2

interface Newcomer {
  readonly peer: string
  /** What it has shown: nothing yet, more than is read in one turn, or a complete read. */
  readonly progress: 'silent' | 'busy' | 'proven'
}

interface WaitingConnection {
  readonly connection: AcceptedConnection
  readonly peer: string
  /** Monotonic ms. */
  readonly until: number
}

interface AddressEntry {
  /** With the monotonic ms of their arrival. */
  readonly newcomers: Map<Newcomer, number>
  /** In order of arrival. */
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

  /**
   * `release` gets connections that have waited, which no longer count under any limit; it must not throw.
   */
  constructor(
    plane: Pick<Plane, 'clock' | 'snapshot' | 'log'>,
    limits: ConnectionLimits,
    release: (connection: AcceptedConnection) => void,
  ) {
    this.#plane = plane
    this.#limits = limits
    this.#release = release
  }

  /**
   * Whether a connection has to wait, since its address has other new ones; until its release it counts under
   * the limits.
   */
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

  /** Removes connections that have shown what they are about. */
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

  /**
   * Counts the connections that make others wait at monotonic ms `now`, and removes those that no longer can.
   */
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
