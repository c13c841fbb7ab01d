// What all processes of a gateway have counted, and the gateways before it: by process, added up, and as text.

import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import type { Store } from '../../store/contract/store.ts'
import type { ManagedPlane } from '../plane/managed-plane.ts'

interface CountsParts {
  readonly metrics: Metrics
  /** Null before there are any. */
  readonly plane: () => ManagedPlane | null
  readonly store: () => Store | null
  /** Returns what the gateways before this one counted. */
  readonly before: () => Promise<readonly Snapshot[]>
}

export class GatewayCounts {
  readonly #parts: CountsParts

  constructor(parts: CountsParts) {
    this.#parts = parts
  }

  /** Returns the counts by process. */
  async snapshots(): Promise<readonly Snapshot[]> {
    return [await this.#parts.metrics.snapshot(), ...(await this.#others())]
  }

  /** Writes the counts, added up, in the text format of Prometheus. */
  async expose(): Promise<string> {
    const { metrics } = this.#parts
    metrics.oauthGrants = await this.#countGrants()
    return metrics.expose(await this.#others())
  }

  /** Reads the counts of this gateway alone, added up. */
  async collect(): Promise<Snapshot> {
    const { metrics, plane } = this.#parts
    metrics.oauthGrants = await this.#countGrants()
    return metrics.collect(await plane()?.snapshots())
  }

  async #others(): Promise<readonly Snapshot[]> {
    const { plane, before } = this.#parts
    return [...((await plane()?.snapshots()) ?? []), ...(await before())]
  }

  /** Returns how many OAuth grants there are; null while the store cannot say. */
  async #countGrants(): Promise<number | null> {
    const grants = this.#parts.store()?.oauthGrants.count()
    return (await grants?.catch(() => null)) ?? null
  }
}
