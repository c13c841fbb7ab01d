// Every origin of the configuration.

import type { Endpoint, OriginConfig } from '../../config/model/config.ts'
import { AddressGuard } from '../resolver/address-guard.ts'
import { NameLookup } from '../resolver/name-lookup.ts'
import { IdlePinnedConnections } from './idle/idle-pinned-connections.ts'
import { type OriginContext, Origin } from './origin.ts'

/** One object for each distinct configuration, so that a reload keeps unchanged connections. */
export class Origins {
  readonly #context: OriginContext
  readonly #byConfig = new Map<string, Origin>()
  /** No longer configured, but still with connections. */
  readonly #retired = new Set<Origin>()

  constructor(
    parts: Pick<OriginContext, 'clock' | 'metrics' | 'log' | 'mayDial'>,
    lookup = new NameLookup(),
  ) {
    this.#context = { ...parts, lookup, guard: new AddressGuard(), idlePinned: new IdlePinnedConnections() }
  }

  /** No origin may be at one of them. */
  set ownEndpoints(endpoints: readonly Endpoint[]) {
    this.#context.guard.ownEndpoints = endpoints
  }

  get(config: OriginConfig): Origin {
    const key = JSON.stringify(config)
    let origin = this.#byConfig.get(key)
    if (origin === undefined) {
      origin = new Origin(config, this.#context)
      this.#byConfig.set(key, origin)
    }
    return origin
  }

  keep(inUse: ReadonlySet<Origin>): void {
    for (const [key, origin] of this.#byConfig) {
      if (inUse.has(origin)) continue
      this.#byConfig.delete(key)
      origin.retire(this.#retired)
    }
  }

  sweep(now: number): void {
    let queued = 0
    for (const origin of this.#byConfig.values()) {
      origin.sweep(now)
      queued += origin.queueLength
    }
    for (const origin of this.#retired) {
      origin.sweep(now)
      queued += origin.queueLength
      if (origin.isUnused) this.#retired.delete(origin)
    }
    this.#context.metrics.originQueue.value = queued
  }

  destroy(): void {
    for (const origin of this.#byConfig.values()) origin.destroy()
    for (const origin of this.#retired) origin.destroy()
    this.#context.lookup.close()
  }
}
