// Whether the origin of a connection still gives signs of life, in monotonic ms.

/** Ms for an origin to acknowledge our settings, and a PING where it seems dead. */
const patience = 10_000
/** Ms of silence that are worth a question: there are servers that hang up on clients that ask often. Also how long the response to it may take before the origin counts as dead. */
const leastDoubt = 1_000
/** Ms for which an origin that owes responses may say nothing before further requests are worth the question. */
const longestSilence = 5_000

const never = Number.POSITIVE_INFINITY

export class Liveness {
  #now: number
  #heardAt: number
  /** Since when the origin has owed responses. */
  #owesSince: number
  #settingsBy: number
  #pingBy = never

  /** Begins when our settings are sent. */
  constructor(now: number) {
    this.#now = this.#heardAt = this.#owesSince = now
    this.#settingsBy = now + patience
  }

  /** Whether an origin that owes responses has said nothing for so long that it may be gone. */
  get isSilent(): boolean {
    return this.#now - Math.max(this.#heardAt, this.#owesSince) >= longestSilence
  }

  /** Whether the origin was asked for a sign of life that has not come. */
  get isAsked(): boolean {
    return this.#pingBy !== never
  }

  /** Whether it was asked, and it is still early to expect none. */
  get isQuestioned(): boolean {
    return this.isAsked && this.#pingBy - this.#now > patience - leastDoubt
  }

  /** Takes note of the time; returns how much has passed. */
  tick(now: number): number {
    const passed = now - this.#now
    this.#now = now
    return passed
  }

  /** Whether an acknowledgement is overdue. */
  get isDead(): boolean {
    return this.#now >= this.#settingsBy || this.#now >= this.#pingBy
  }

  heard(): void {
    this.#heardAt = this.#now
  }

  /** The origin owes responses from now on. */
  owes(): void {
    this.#owesSince = this.#now
  }

  settingsAcknowledged(): void {
    this.#settingsBy = never
  }

  /** Whether to ask where nothing came since `since`, by default for as long as it may say nothing; it is asked then. */
  doubt(since = this.#now - longestSilence): boolean {
    if (this.#heardAt > since || this.#now - since < leastDoubt || this.isAsked) return false
    this.#pingBy = this.#now + patience
    return true
  }

  /** Takes a sign of life; whether there was a question. */
  answered(): boolean {
    const wasAsked = this.isAsked
    this.#pingBy = never
    return wasAsked
  }
}
