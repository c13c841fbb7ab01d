// What becomes known of an AI call on its way, beside what every exchange knows.

import type { Clock } from '../../base/clock.ts'
import type { Gateway, Metadata, Token } from '../../store/records.ts'
import type { Key, KeyRing } from '../../ai/key-ring.ts'
import type { Dialect } from '../../ai/provider-rows.ts'
import type { Provider } from '../../ai/providers.ts'
import type { AiTarget } from '../../ai/target.ts'
import { Capture } from '../../ai-logs/capture.ts'
import type { ResponseHead } from '../../http1/response-head.ts'
import type { AiFields } from './ai-fields.ts'
import type { Rewriter } from './rewriter.ts'
import { Recorded, type Rewriting } from './rewriting.ts'

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
  /** What makes the caller's answer of the provider's, where they differ. */
  rewriting: Rewriting | null = null
  /** Whether the call went on its way to a provider, so that there is something to log. */
  isUnderWay = false
  /** Whether its gateway keeps entries at all, and bodies with them. */
  isLogged = false
  keepsPayloads = false
  metadata: Metadata | null = null
  /** What is kept of both bodies for the log. */
  request: Capture | null = null
  response: Capture | null = null
  /** What the caller gets in place of the provider's answer; null where it gets that. */
  relayed: Capture | null = null
  responseHead: ResponseHead | null = null
  /** Monotonic ms at which the first byte of the answer's body came; 0 before. */
  firstByteAt = 0

  constructor(target: AiTarget, fields: AiFields) {
    this.target = target
    this.fields = fields
  }

  /** Takes the head of the provider's answer; gives what rewrites its body, as `Rewriting.begin` does. */
  beginAnswer(head: ResponseHead): Rewriter | null | false {
    this.responseHead = head
    if (this.isLogged) this.response = new Capture({ isEncoded: head.isEncoded })
    const rewriter = this.rewriting?.begin(head) ?? null
    if (!this.keepsPayloads || rewriter === null || rewriter === false) return rewriter
    this.relayed = new Capture({ isEncoded: false })
    return new Recorded(rewriter, this.relayed)
  }

  /** Keeps for the log what the caller gets in place of the provider's answer. */
  noteOwnAnswer(body: string): void {
    if (!this.keepsPayloads || !this.isUnderWay) return
    this.relayed = new Capture({ isEncoded: false })
    this.relayed.take(Buffer.from(body, 'latin1'))
  }

  /** Keeps for the log what the caller gets behind the provider's answer. */
  noteOwnEnd(text: string): void {
    if (!this.keepsPayloads || this.response === null) return
    if (this.relayed === null) {
      // So much of it is kept that the end is not.
      if (this.response.isCut) return
      this.relayed = new Capture({ isEncoded: false })
      this.relayed.take(this.response.head())
    }
    this.relayed.take(Buffer.from(text, 'latin1'))
  }

  /** Keeps bytes of the provider's answer for the log. */
  noteAnswer(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.response?.take(bytes)
  }
}
