// Whether the origin of a connection is alive, in monotonic ms.

/** Ms for our settings, and for a PING if the origin seems dead. */
const ackTimeout = 10_000
/** Ms of silence before a PING, which some servers punish if frequent; also until a reply counts as late. */
const minSilence = 1_000
/** Ms after which an origin that owes responses gets a PING before further requests. */
const maxSilence = 5_000

const never = Number.POSITIVE_INFINITY

export class Liveness {
  #now: number
  #receivedAt: number
  #owesSince: number
  #settingsBy: number
  #pingBy = never

  constructor(now: number) {
    this.#now = this.#receivedAt = this.#owesSince = now
    this.#settingsBy = now + ackTimeout
  }

  /** The origin owes responses and has sent nothing for so long that it may be dead. */
  get isSilent(): boolean {
    return this.#now - Math.max(this.#receivedAt, this.#owesSince) >= maxSilence
  }

  get isPingPending(): boolean {
    return this.#pingBy !== never
  }

  /** The reply may be on its way. */
  get isPingFresh(): boolean {
    return this.isPingPending && this.#pingBy - this.#now > ackTimeout - minSilence
  }

  tick(now: number): number {
    const passed = now - this.#now
    this.#now = now
    return passed
  }

  get isDead(): boolean {
    return this.#now >= this.#settingsBy || this.#now >= this.#pingBy
  }

  received(): void {
    this.#receivedAt = this.#now
  }

  owes(): void {
    this.#owesSince = this.#now
  }

  settingsAcknowledged(): void {
    this.#settingsBy = never
  }

  /** Whether to send a PING since nothing came after `since`; if so, it counts as sent. */
  probe(since = this.#now - maxSilence): boolean {
    if (this.#receivedAt > since || this.#now - since < minSilence || this.isPingPending) return false
    this.#pingBy = this.#now + ackTimeout
    return true
  }

  pingAcknowledged(): boolean {
    const wasPending = this.isPingPending
    this.#pingBy = never
    return wasPending
  }
}
