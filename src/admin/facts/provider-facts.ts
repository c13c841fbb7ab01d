// What the management API has to know of AI providers. `process` gives it. They are of the configuration, and all accounts call the same.

import type { SecretSource } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'

export interface ProviderFacts {
  /** Those of the configuration, in its order, and others that were called. */
  all(): Promise<readonly ProviderFact[]>
  /** Asks a provider for something small, once with each key; null where there is none of this id. Of requests at nearly the same time one asks. */
  test(id: string): Promise<ProviderTest | null>
}

/** Times are in ms since the epoch, 0 for never. */
export interface ProviderFact {
  /** The name, and behind a dot the resource of one that has some. */
  readonly id: string
  readonly name: string
  readonly resource: string | null
  /** Whether the configuration has it. */
  readonly isConfigured: boolean
  /** Whether calls need a key. */
  readonly needsKey: boolean
  /** Where it is, without a path. */
  readonly origin: string
  readonly keys: readonly KeyFact[]
  /** How many processes serve calls, whose view this is. */
  readonly processes: number
  /** The latest call, the latest that it took, and the latest that failed or was refused. */
  readonly lastAt: number
  readonly goodAt: number
  readonly badAt: number
  /** 0 where no response came. */
  readonly badStatus: number
  readonly badError: ErrorName | null
  readonly badCode: string
  /** Failures since it took a call. */
  readonly failures: number
  /** The models that have a price; a * at the end of one stands for any rest. */
  readonly pricedModels: readonly string[]
}

export interface KeyFact {
  readonly source: SecretSource
  /** In how many processes it rests, until when in the last of them, and for which status. */
  readonly resting: number
  readonly restsUntil: number
  readonly status: number
}

export interface ProviderTest {
  /** Ms since the epoch. */
  readonly at: number
  /** The path of its url, which is part of its address; empty for none. */
  readonly basePath: string
  /** What was asked for below that. */
  readonly path: string
  readonly results: readonly KeyTest[]
}

export interface KeyTest {
  /** The number of the key in the configuration, from 1; null where none was sent. */
  readonly key: number | null
  readonly status: number | null
  readonly error: ErrorName | null
  readonly code: string
  /** Ms. */
  readonly duration: number
}
