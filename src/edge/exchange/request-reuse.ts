// What is reused from the last request of a connection: the next one usually says the same.

import type { AiFields } from '../ai-call/ai-fields.ts'
import type { FieldId } from '../../http1/fields/fields.ts'
import type { ProviderLines } from '../ai-call/outbound-call.ts'
import type { UntrustedLines } from './forwarded-trust.ts'

export class LastRequest {
  /** The fields of an AI call, and what its provider was sent of them. */
  aiFields: AiFields | null = null
  providerLines: ProviderLines | null = null
  /** The field lines searched for our credentials (over HTTP/2 their contents), and the place. */
  searchedIds: readonly FieldId[] | null = null
  searchedFields: readonly string[] = []
  credentialPlace: string | null = null
  untrustedLines: UntrustedLines | null = null
}
