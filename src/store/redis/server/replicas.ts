// Which replicas must confirm a write: all that could become the primary. An unresponsive one is exempt only
// if an authority with a majority says that it cannot be chosen.

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
  /** The maximum number of replicas at one time, used if nothing says how many there are. */
  #seen = 0
  /** Replicas of the shard that most primaries do not consider failed; null outside of a cluster. */
  #sharded: number | null = null

  #isBlind = false

  constructor(sentinels: Sentinels | null) {
    this.#sentinels = sentinels
  }

  get needed(): number | null {
    if (this.#sharded !== null) return Math.max(this.#sharded, Math.min(1, this.#seen))
    if (this.#sentinels === null) return this.#seen
    const { view } = this.#sentinels
    // The server does not tell which of them have a write: then all must.
    return view && Math.max(1, view.electable.length, this.#isBlind ? this.#seen : 0)
  }

  /** The replicas that must confirm writes, to explain what can be lost. */
  get confirmers(): Confirmers {
    const { view } = this.#sentinels ?? {}
    const isSharded = this.#sharded !== null
    const judges = this.#sentinels === null ? (isSharded ? 'nodes' : null) : 'sentinels'
    return { needed: this.needed ?? 1, spared: view?.spared ?? 0, judges }
  }

  /** A number that differs after each change of the primary. */
  get epoch(): number | null {
    return this.#sentinels === null ? 0 : (this.#sentinels.view?.epoch ?? null)
  }

  /**
   * Records how many replicas follow the server, whether it hides them, and for a node of a cluster the reply
   * to CLUSTER NODES.
   */
  note({ followers, isBlind, nodes }: Sight): void {
    this.#seen = Math.max(this.#seen, followers)
    this.#isBlind = isBlind
    if (typeof nodes === 'string') this.#sharded = replicasIn(nodes)
    this.#seen = Math.max(this.#seen, this.#sharded ?? 0)
  }

  /**
   * Whether all that could become the primary have reached `offset`, which as many have as `confirmed` says.
   * Those may be other ones, or fewer than are needed by now.
   */
  haveAll(followers: readonly Follower[], { offset, confirmed }: Proof): boolean {
    const electable = this.#sentinels?.view?.electable
    const isThere = ({ offset: reached }: Follower) => reached >= offset
    if (electable === undefined) return followers.length <= (this.needed ?? 0) || followers.every(isThere)
    const isMeant = ({ name }: Follower) => electable.some(names => names.includes(name))
    if (confirmed >= electable.length && followers.every(isMeant)) return true
    return electable.every(names => followers.some(one => names.includes(one.name) && isThere(one)))
  }
}

interface Proof {
  readonly offset: number
  readonly confirmed: number
}

export function lackOf(confirmed: unknown, needed: number): string {
  return `${confirmed} of ${needed} ${needed === 1 ? 'replica confirms' : 'replicas confirm'} writes`
}

/** Counts the replicas of the node that replied; its own suspicion (`fail?`) exempts none. */
function replicasIn(nodes: string): number {
  const lines = nodes.split('\n').map(line => line.split(' '))
  const own = lines.find(([, , flags = '']) => flags.split(',').includes('myself'))?.[0]
  return lines.filter(([, , flags = '', primary]) => primary === own && !flags.split(',').includes('fail'))
    .length
}
