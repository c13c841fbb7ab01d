// What was made of the last request of a connection: mostly the next one says the same.

import type { AiFields } from '../ai/ai-fields.ts'
import type { ProviderLines } from '../ai/outbound-call.ts'
import type { StrangersLines } from './way.ts'

export class LastRequest {
  /** The fields of an AI call, and what its provider was sent of them. */
  aiFields: AiFields | null = null
  providerLines: ProviderLines | null = null
  /** What an origin learned of the client. */
  strangersLines: StrangersLines | null = null
}
