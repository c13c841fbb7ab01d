// Which member of a pool is next: a plain turn. Called by the edge, whose origins are the members.

export class Pool<Member> {
  readonly members: readonly Member[]
  #turn = 0

  constructor(members: readonly Member[]) {
    this.members = members
  }

  /** Gives the member whose turn it is; null in an empty pool. */
  next(): Member | null {
    const { members } = this
    if (members.length === 0) return null
    if (this.#turn >= members.length) this.#turn = 0
    return members[this.#turn++]!
  }

  /** Gives the member that stands behind one that failed; null when there is no other. */
  nextAfter(failed: Member): Member | null {
    const { members } = this
    if (members.length < 2) return null
    const next = members[(members.indexOf(failed) + 1) % members.length]!
    return next === failed ? null : next
  }
}
