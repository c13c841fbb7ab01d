// What the endpoints get: a request, and the parts that they share.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Config } from '../../config/model/config.ts'
import type { Limiter } from '../../limits/limiter.ts'
import type { Logger } from '../../log/log.ts'
import type { GuardedClientOptions } from '../../net/http/guarded-client.ts'
import type { PeopleMetrics } from '../../metrics/counters/people-metrics.ts'
import type { RouteResources } from '../../oauth/grants/route-resources.ts'
import type { AuthorizationLog } from '../../oauth/grants/authorization-log.ts'
import type { Api, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import type { ClientSecrets } from '../credentials/client-secrets.ts'
import type { Person, Sender } from '../engine/request.ts'
import type { SigningKeys } from '../../tokens/signing-keys.ts'

export interface Call {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly sender: Sender
  readonly path: string
  readonly query: string
}

export interface ServerParts {
  readonly config: Config['oauth']
  /** Returns the issuer: the configured one, or the URL of the side port if that is on loopback. */
  readonly issuer: () => string
  readonly store: Store
  readonly tags: TokenTags
  readonly secrets: SecretKeys
  readonly limiter: Limiter
  readonly metrics?: PeopleMetrics
  readonly log: Logger
  readonly personOf: (request: Pick<IncomingMessage, 'headers'>) => Promise<Person | null>
  readonly signOut: (
    request: IncomingMessage,
    response: ServerResponse,
    visit: { readonly address: string; readonly ray: string },
  ) => Promise<void>
  readonly verify: (value: string, address: string | null) => Token | string | Promise<Token | string>
  /** Returns the API that a resource indicator names; null if it names none of this server. */
  readonly apiOf: (resource: string) => Api | null
  readonly routes: RouteResources
  /** How documents of clients are fetched; by default, from public addresses only. */
  readonly documents?: Pick<GuardedClientOptions, 'isAllowed' | 'ca'>
}

export interface EndpointParts extends ServerParts {
  readonly clients: ClientDirectory
  readonly clientSecrets: ClientSecrets
  readonly keys: SigningKeys
  readonly events: AuthorizationLog
}
