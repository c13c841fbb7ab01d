// The counts of all processes of a gateway and of previous gateways: by process, summed, and as text.

import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import type { Store } from '../../store/contract/store.ts'
import type { ManagedPlane } from '../plane/managed-plane.ts'

interface CountsParts {
  readonly metrics: Metrics
  readonly plane: () => ManagedPlane | null
  readonly store: () => Store | null
  readonly before: () => Promise<readonly Snapshot[]>
}

export class GatewayCounts {
  readonly #parts: CountsParts

  constructor(parts: CountsParts) {
    this.#parts = parts
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    return [await this.#parts.metrics.snapshot(), ...(await this.#others())]
  }

  async expose(): Promise<string> {
    const { metrics } = this.#parts
    metrics.oauthGrants = await this.#countGrants()
    return metrics.expose(await this.#others())
  }

  async collect(): Promise<Snapshot> {
    const { metrics, plane } = this.#parts
    metrics.oauthGrants = await this.#countGrants()
    return metrics.collect(await plane()?.snapshots())
  }

  async #others(): Promise<readonly Snapshot[]> {
    const { plane, before } = this.#parts
    return [...((await plane()?.snapshots()) ?? []), ...(await before())]
  }

  /** Null while the store is unreachable. */
  async #countGrants(): Promise<number | null> {
    const grants = this.#parts.store()?.oauthGrants.count()
    return (await grants?.catch(() => null)) ?? null
  }
}
