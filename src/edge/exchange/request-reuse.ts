// What was made of the last request of a connection: mostly the next one says the same.

import type { AiFields } from '../ai-call/ai-fields.ts'
import type { FieldId } from '../../http1/fields/fields.ts'
import type { ProviderLines } from '../ai-call/outbound-call.ts'
import type { StrangersLines } from './forwarded-trust.ts'

export class LastRequest {
  /** The fields of an AI call, and what its provider was sent of them. */
  aiFields: AiFields | null = null
  providerLines: ProviderLines | null = null
  /** Of a request to a site: the lines that were searched for credentials of this gateway, over HTTP/2 what they have, and where one was found. */
  searchedIds: readonly FieldId[] | null = null
  searchedFields: readonly string[] = []
  credentialPlace: string | null = null
  /** What an origin learned of the client. */
  strangersLines: StrangersLines | null = null
}
