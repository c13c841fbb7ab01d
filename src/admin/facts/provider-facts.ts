// What the management API knows of AI providers; provided by `process`.

import type { SecretSource } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

export interface ProviderFacts {
  /** Those of the configuration, in its order, and others that were called. */
  all(): Promise<readonly ProviderFact[]>
  /** Tests each key; null for an unknown id. Concurrent requests share one test. */
  test(id: string): Promise<ProviderTest | null>
  /** Whether calls may name a model so: its provider, and its resource if it needs one, are known. */
  hasModel(name: string): boolean
}

/** Times are in ms since the epoch, 0 for never. */
export interface ProviderFact {
  /** The name; for a provider with resources, followed by a dot and the resource. */
  readonly id: string
  readonly name: string
  readonly resource: string | null
  readonly isConfigured: boolean
  readonly needsKey: boolean
  readonly origin: string
  readonly keys: readonly KeyFact[]
  /** The number of processes that serve calls and contribute to this view. */
  readonly processes: number
  /** The latest call, the latest accepted one, and the latest that failed or was refused. */
  readonly lastAt: number
  readonly goodAt: number
  readonly badAt: number
  /** 0 if no response came. */
  readonly badStatus: number
  readonly badError: ErrorName | null
  readonly badCode: string
  readonly failures: number
  /** The models that have a price; a * at the end of one stands for any rest. */
  readonly pricedModels: readonly string[]
}

export interface KeyFact {
  readonly source: SecretSource
  /** The number of processes in which it rests, the latest end of a rest, and the status that caused it. */
  readonly resting: number
  readonly restsUntil: number
  readonly status: number
  /** Of a key that is made: its end, 0 for none; in how many processes the latest attempt failed, and why. */
  readonly made: {
    readonly expiresAt: number
    readonly failing: number
    readonly failure: string | null
  } | null
}

export interface ProviderTest {
  /** Ms since the epoch. */
  readonly at: number
  readonly basePath: string
  readonly path: string
  readonly results: readonly KeyTest[]
}

export interface KeyTest {
  /** The number of the key in the configuration, from 1; null if none was sent. */
  readonly key: number | null
  readonly status: number | null
  readonly error: ErrorName | null
  readonly code: string
  /** Ms. */
  readonly duration: number
}
