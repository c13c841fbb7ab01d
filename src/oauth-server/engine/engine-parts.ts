// The parts that the engine is built from.

import type { Config } from '../../config/model/config.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { Logger } from '../../log/log.ts'
import type { PeopleMetrics } from '../../metrics/counters/people-metrics.ts'
import type { RouteResources } from '../../oauth/grants/route-resources.ts'
import type { AuthorizationOutcome } from '../../oauth/grants/authorization-log.ts'
import type { Json } from '../../store/records/credential.ts'
import type { Api } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { ClientSecrets } from '../credentials/client-secrets.ts'

export interface EngineParts {
  readonly issuer: string
  readonly lifetimes: Config['oauth']['lifetimes']
  /** Private JWKs; the first one signs. */
  readonly keys: readonly Readonly<Record<string, Json>>[]
  readonly store: Store
  readonly tags: TokenTags
  readonly clients: ClientDirectory
  /** Whether clients may be known by the URL of a document. */
  readonly hasDocuments: boolean
  readonly secrets: ClientSecrets
  readonly limiter: Limiter
  /** Returns the API that a resource indicator names; null if it names none of this server. */
  readonly apiOf: (resource: string) => Api | null
  readonly routes: RouteResources
  readonly errorUri: (error: string) => string
  readonly note: (outcome: AuthorizationOutcome) => void
  readonly metrics: PeopleMetrics
  readonly log: Logger
}
