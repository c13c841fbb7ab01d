// What becomes known of an AI call on its way, beside what every exchange knows.

import type { Gateway, Token } from '../../store/records.ts'
import type { Key, KeyRing } from '../../ai/key-ring.ts'
import type { Dialect } from '../../ai/provider-rows.ts'
import type { Provider } from '../../ai/providers.ts'
import type { AiTarget } from '../../ai/target.ts'
import type { AiFields } from './ai-fields.ts'
import type { Rewriting } from './rewriting.ts'

export class AiExchange {
  readonly target: AiTarget
  readonly fields: AiFields
  /** Its gateway, once it is let in. */
  gateway: Gateway | null = null
  /** The token for which it was let in; null where the gateway asks for none. */
  token: Token | null = null
  /** Whether the caller was turned away for lack of a valid token: then nothing is written of the call. */
  isTurnedAway = false
  /** The body of a call that can't be planned without it. */
  body: Buffer | null = null
  /** Bytes of it that count against the room for all. */
  gathered = 0
  provider: Provider | null = null
  /** The keys among which the call may change; null where its caller brought one, or there is no other. */
  keys: KeyRing | null = null
  /** The key of ours that it bears, and how often that was another one. */
  key: Key | null = null
  keyChanges = 0
  /** Keys that work for others and were turned away with this call; null for none. */
  doubted: Key[] | null = null
  /** In which API the provider is asked; null where the request is passed on unread. */
  asks: Dialect | null = null
  /** Path and query at the provider. */
  path = ''
  /** As far as the request tells without being parsed. */
  model: string | null = null
  /** What makes the caller's response of the provider's, where they differ. */
  rewriting: Rewriting | null = null

  constructor(target: AiTarget, fields: AiFields) {
    this.target = target
    this.fields = fields
  }
}
