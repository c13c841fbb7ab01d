// Which replicas have to have a write before it counts: each that could become the primary. One that only does not answer can be the next
// primary all the same, so none is let off because it went away, but where somebody with a majority says that it can't be chosen.

import type { Sentinels } from './sentinels.ts'
import type { Follower } from './server-facts.ts'
import type { Confirmers } from './settings.ts'

interface Sight {
  readonly followers: number
  readonly isBlind: boolean
  readonly nodes: unknown
}

export class Replicas {
  readonly #sentinels: Sentinels | null
  /** The most that followed the server at one time, where nobody says how many there are. */
  #seen = 0
  /** Those of the shard in a cluster that most primaries don't call failed; null elsewhere. */
  #sharded: number | null = null

  #isBlind = false

  constructor(sentinels: Sentinels | null) {
    this.#sentinels = sentinels
  }

  /** How many have to confirm a write; null while that isn't known. */
  get needed(): number | null {
    if (this.#sharded !== null) return Math.max(this.#sharded, Math.min(1, this.#seen))
    if (this.#sentinels === null) return this.#seen
    const { view } = this.#sentinels
    // Which of them have a write isn't known where the server won't tell: then all must.
    return view && Math.max(1, view.electable.length, this.#isBlind ? this.#seen : 0)
  }

  /** Who has to confirm writes, for those who ask what can be lost. */
  get confirmers(): Confirmers {
    const { view } = this.#sentinels ?? {}
    const isSharded = this.#sharded !== null
    const judges = this.#sentinels === null ? (isSharded ? 'nodes' : null) : 'sentinels'
    return { needed: this.needed ?? 1, spared: view?.spared ?? 0, judges }
  }

  /** Another number after each change of the primary. */
  get epoch(): number | null {
    return this.#sentinels === null ? 0 : (this.#sentinels.view?.epoch ?? null)
  }

  /** Takes down how many follow the server, whether it tells no more of them, and for a node of a cluster what CLUSTER NODES answered. */
  note({ followers, isBlind, nodes }: Sight): void {
    this.#seen = Math.max(this.#seen, followers)
    this.#isBlind = isBlind
    if (typeof nodes === 'string') this.#sharded = replicasIn(nodes)
    this.#seen = Math.max(this.#seen, this.#sharded ?? 0)
  }

  /** Whether all that could become the primary have come as far as `offset`, where others follow the server, too, that may have been counted in their place. */
  haveAll(followers: readonly Follower[], offset: number): boolean {
    const electable = this.#sentinels?.view?.electable
    const isThere = ({ offset: reached }: Follower) => reached >= offset
    if (electable === undefined) return followers.length <= (this.needed ?? 0) || followers.every(isThere)
    const isMeant = ({ name }: Follower) => electable.some(names => names.includes(name))
    if (followers.every(isMeant)) return true
    return electable.every(names => followers.some(one => names.includes(one.name) && isThere(one)))
  }
}

/** Returns the sentence that says how many replicas confirm writes of those that have to. */
export function lackOf(confirmed: unknown, needed: number): string {
  return `${confirmed} of ${needed} ${needed === 1 ? 'replica confirms' : 'replicas confirm'} writes`
}

/** Counts the replicas of the node that was asked; a mark of its own (`fail?`) doesn't let one off. */
function replicasIn(nodes: string): number {
  const lines = nodes.split('\n').map(line => line.split(' '))
  const own = lines.find(([, , flags = '']) => flags.split(',').includes('myself'))?.[0]
  return lines.filter(([, , flags = '', primary]) => primary === own && !flags.split(',').includes('fail'))
    .length
}
