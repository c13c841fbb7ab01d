// The addresses of one origin's name, kept fresh behind the requests. Used by `dial.ts` for the next address and by `origin.ts`, which hears of changes.
import type { Clock } from '../base/clock.ts'
import type { EdgeMetrics } from '../base/edge-metrics.ts'
import type { TransportConfig } from '../config/pool-config.ts'
import type { NameAnswer, NameLookup } from './name-lookup.ts'
import type { Failure } from './origin-connection.ts'

/** Ms between look-ups: what holds without a TTL and is most with one, and least. */
const LONGEST = 30_000
const SHORTEST = 1_000
/** Ms until a name is asked for again that failed while its old addresses serve. */
const RETRY = 5_000

/** Who waits for a name that nothing is known of. */
export interface Asker {
  resolved(): void
  unresolved(failure: Failure): void
}

interface AddressBookParts {
  readonly name: string
  readonly dns: TransportConfig['dns']
  readonly lookup: NameLookup
  readonly clock: Clock
  readonly metrics: EdgeMetrics
  /** Told when addresses have come or gone. */
  readonly changed: () => void
}

export class AddressBook {
  readonly #parts: AddressBookParts
  readonly #askers = new Set<Asker>()
  #addresses: readonly string[] = []
  #turn = 0
  /** Those that no connection could be made to since the last look-up. */
  readonly #failed = new Set<string>()
  #isAsking = false
  /** Monotonic ms: the next look-up is due; old addresses are given up unless one succeeds before. */
  #dueAt = 0
  #endsAt = Number.POSITIVE_INFINITY

  constructor(parts: AddressBookParts) {
    this.#parts = parts
  }

  get addresses(): readonly string[] {
    return this.#addresses
  }

  /** Lists the addresses in the order in which they are to be tried; none while they are not known, and are to be asked for. */
  inTurn(): readonly string[] {
    this.refresh()
    const all = this.#addresses
    if (all.length < 2) return all
    const first = this.#turn++ % all.length
    const turned = [...all.slice(first), ...all.slice(0, first)]
    if (this.#failed.size === 0) return turned
    return turned.toSorted((a, b) => Number(this.#failed.has(a)) - Number(this.#failed.has(b)))
  }

  /** Looks the name up and tells the asker, together with all others who wait. */
  ask(asker: Asker): void {
    this.#askers.add(asker)
    this.#look()
  }

  forget(asker: Asker): void {
    this.#askers.delete(asker)
  }

  /** Lets an address come last until the name is looked up again. */
  noteFailure(address: string): void {
    this.#failed.add(address)
  }

  /** Does what is due: gives up addresses whose time is over, and asks anew in the background. */
  refresh(): void {
    if (this.#addresses.length === 0) return
    const now = this.#parts.clock.monotonic()
    if (now >= this.#endsAt) this.#replace([])
    else if (now >= this.#dueAt) this.#look()
  }

  #look(): void {
    if (this.#isAsking) return
    this.#isAsking = true
    const { lookup, name } = this.#parts
    void lookup.ask(name).then(answer => {
      this.#isAsking = false
      if ('addresses' in answer) this.#found(answer)
      else this.#missed(answer)
    })
  }

  #found({ addresses, ttl }: NameAnswer): void {
    const { clock, dns, metrics } = this.#parts
    metrics.originLookups.found.inc()
    const now = clock.monotonic()
    this.#failed.clear()
    this.#endsAt = Number.POSITIVE_INFINITY
    this.#dueAt = now + (dns.refresh || LONGEST)
    if (dns.refresh === 0) void ttl.then(seconds => this.#hold(now, seconds))
    this.#replace(addresses)
    for (const asker of this.#takeAskers()) asker.resolved()
  }

  #hold(since: number, ttl: number | null): void {
    if (ttl !== null) this.#dueAt = since + Math.min(Math.max(ttl * 1000, SHORTEST), LONGEST)
  }

  #missed(failure: Failure): void {
    const { clock, dns, metrics } = this.#parts
    metrics.originLookups.failed.inc()
    const now = clock.monotonic()
    this.#dueAt = now + RETRY
    this.#endsAt = Math.min(this.#endsAt, now + dns.keep)
    for (const asker of this.#takeAskers()) asker.unresolved(failure)
  }

  #takeAskers(): Asker[] {
    const askers = [...this.#askers]
    this.#askers.clear()
    return askers
  }

  #replace(addresses: readonly string[]): void {
    const before = this.#addresses
    this.#addresses = addresses
    const isSame = before.length === addresses.length && addresses.every(address => before.includes(address))
    if (!isSame) this.#parts.changed()
  }
}
