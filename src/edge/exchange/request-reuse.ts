// What the next request of a connection reuses.

import type { AiFields } from '../ai-call/request-fields.ts'
import type { FieldId } from '../../http1/fields/fields.ts'
import type { ProviderLines } from '../ai-call/outbound-call.ts'
import type { UntrustedLines } from './forwarded-trust.ts'

export class LastRequest {
  aiFields: AiFields | null = null
  providerLines: ProviderLines | null = null
  /** The field lines searched for our credentials (over HTTP/2 their contents), and the place. */
  searchedIds: readonly FieldId[] | null = null
  searchedFields: readonly string[] = []
  credentialPlace: string | null = null
  untrustedLines: UntrustedLines | null = null
}
