// Whether the origin of a connection is alive, in monotonic ms.

/** Ms for an origin to acknowledge our settings, and a PING if it seems dead. */
const ackTimeout = 10_000
/**
 * Min ms of silence before a PING: some servers hang up on clients that send it often. Also the ms in which
 * the reply is expected soon, before the origin counts as dead.
 */
const minSilence = 1_000
/** Ms after which an origin that owes responses and sends nothing gets a PING before further requests. */
const maxSilence = 5_000

const never = Number.POSITIVE_INFINITY

export class Liveness {
  #now: number
  #receivedAt: number
  /** When the origin began to owe responses. */
  #owesSince: number
  #settingsBy: number
  #pingBy = never

  /** Begins when our settings are sent. */
  constructor(now: number) {
    this.#now = this.#receivedAt = this.#owesSince = now
    this.#settingsBy = now + ackTimeout
  }

  /** Whether an origin that owes responses has sent nothing for so long that it may be dead. */
  get isSilent(): boolean {
    return this.#now - Math.max(this.#receivedAt, this.#owesSince) >= maxSilence
  }

  /** Whether a PING is unacknowledged. */
  get isPingPending(): boolean {
    return this.#pingBy !== never
  }

  /** Whether a PING was sent so recently that its reply may be on its way. */
  get isPingFresh(): boolean {
    return this.isPingPending && this.#pingBy - this.#now > ackTimeout - minSilence
  }

  /** Sets the time; returns the ms since the last call. */
  tick(now: number): number {
    const passed = now - this.#now
    this.#now = now
    return passed
  }

  /** Whether an acknowledgement is overdue. */
  get isDead(): boolean {
    return this.#now >= this.#settingsBy || this.#now >= this.#pingBy
  }

  received(): void {
    this.#receivedAt = this.#now
  }

  /** From now on, the origin owes responses. */
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

  /** A PING is acknowledged; returns whether one was sent. */
  pingAcknowledged(): boolean {
    const wasPending = this.isPingPending
    this.#pingBy = never
    return wasPending
  }
}
