// What the log of a gateway hears of an AI call as it passes: both bodies, and when the response began.

import type { Clock } from '../../base/clock.ts'
import { Capture } from '../../ai-logs/capture.ts'
import type { Metadata } from '../../store/records.ts'
import type { ResponseHead } from '../../http1/response-head.ts'

export class Tap {
  /** Whether bodies are kept with the entry, and not only read for model and usage. */
  readonly keepsPayloads: boolean
  /** Whether the call went on its way to a provider, so that there is something to log. */
  isUnderWay = false
  metadata: Metadata | null = null
  readonly request: Capture | null
  response: Capture | null = null
  /** What the client gets in place of the provider's response; null where it gets that. */
  relayed: Capture | null = null
  head: ResponseHead | null = null
  /** Monotonic ms at which the first byte of the response's body came; 0 before. */
  firstByteAt = 0

  constructor({ keepsPayloads, isEncoded }: { keepsPayloads: boolean; isEncoded: boolean }) {
    this.keepsPayloads = keepsPayloads
    this.request = keepsPayloads ? new Capture({ isEncoded }) : null
  }

  /** Takes bytes of the request's body. */
  noteRequest(bytes: Buffer): void {
    this.request?.take(bytes)
  }

  /** Takes the head of the provider's response, and whether the client gets its body in other words. */
  noteHead(head: ResponseHead, isRewritten: boolean): void {
    this.head = head
    this.response = new Capture({ isEncoded: head.isEncoded })
    if (this.keepsPayloads && isRewritten) this.relayed = new Capture({ isEncoded: false })
  }

  /** Takes bytes of the provider's response. */
  noteResponse(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.response?.take(bytes)
  }

  /** Takes bytes that the client gets in their place. */
  noteRelayed(bytes: Buffer): void {
    this.relayed?.take(bytes)
  }

  /** Takes what the client gets in place of the provider's response. */
  noteOwnAnswer(body: string): void {
    if (!this.keepsPayloads || !this.isUnderWay) return
    this.relayed = new Capture({ isEncoded: false })
    this.relayed.take(Buffer.from(body, 'latin1'))
  }

  /** Takes what the client gets behind what it has of the provider's response. */
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
}
