// What the engine is built from.

import type { Config } from '../../config/model/config.ts'
import type { Logger } from '../../log/log.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { Json } from '../../store/records/credential.ts'
import type { Api } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { ClientDirectory } from '../client-directory.ts'
import type { ClientSecrets } from '../client-secrets.ts'
import type { Context } from './engine-types.ts'

export interface EngineParts {
  readonly issuer: string
  readonly lifetimes: Config['oauth']['lifetimes']
  /** Private JWKs; the one that signs first. */
  readonly keys: readonly Readonly<Record<string, Json>>[]
  readonly store: Store
  /** Makes the values of access tokens; it is ready. */
  readonly tags: TokenTags
  readonly clients: ClientDirectory
  readonly secrets: ClientSecrets
  readonly limiter: Limiter
  /** Returns the API that a resource indicator names; null where that is none here. */
  readonly apiOf: (resource: string) => Api | null
  readonly log: Logger
  /** What goes around each request. */
  readonly around: (context: Context, next: () => Promise<void>) => Promise<void>
}
