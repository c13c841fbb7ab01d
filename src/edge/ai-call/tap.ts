// Records both bodies of an AI call for the log of its gateway as they pass.

import type { Clock } from '../../base/clock.ts'
import { SessionUsage } from '../../ai/usage/session.ts'
import { Capture } from '../../ai-logs/capture.ts'
import type { CustomCost } from '../../ai-logs/custom-cost.ts'
import { FrameMessages } from '../../http1/websocket/frame-messages.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'

/** What a provider still sends to a call whose caller has left. */
export interface Remainder {
  readonly isWhole: boolean
  onEnd: (() => void) | null
}

export class Tap {
  /** Otherwise they are only read for model and usage. */
  readonly keepsPayloads: boolean
  /** Whether the call gets an entry in the log; if not, it is only measured. */
  readonly isStored: boolean
  isUnderWay = false
  eventId: string | null = null
  customCost: CustomCost | null = null
  request: Capture | null
  response: Capture | null = null
  relayed: Capture | null = null
  head: ResponseHead | null = null
  session: SessionUsage | null = null
  /** Null unless the caller has left and the provider may finish. */
  remainder: Remainder | null = null
  #messages: FrameMessages | null = null
  /** Monotonic ms; 0 before. */
  firstByteAt = 0

  constructor({
    keepsPayloads,
    isEncoded,
    isStored = true,
  }: {
    readonly keepsPayloads: boolean
    readonly isEncoded: boolean
    readonly isStored?: boolean
  }) {
    this.keepsPayloads = keepsPayloads
    this.isStored = isStored
    this.request = keepsPayloads ? new Capture({ isEncoded }) : null
  }

  /** Another attempt begins: what came of the last one is not part of its response. */
  forgetResponse(): void {
    this.head = null
    this.response = null
    this.relayed = null
    this.firstByteAt = 0
  }

  noteRequest(bytes: Buffer): void {
    this.request?.take(bytes)
  }

  /** Other bytes went to the provider: those of the caller are not kept. */
  replaceRequest(bytes: Buffer): void {
    if (this.request === null) return
    this.request = new Capture({ isEncoded: false })
    this.request.take(bytes)
  }

  noteHead(head: ResponseHead, isRewritten: boolean): void {
    this.head = head
    this.firstByteAt = 0
    this.relayed = null
    this.response = new Capture({ isEncoded: head.isEncoded })
    if (this.keepsPayloads && isRewritten) this.relayed = new Capture({ isEncoded: false })
  }

  noteResponse(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.response?.take(bytes)
  }

  noteSession(model: string | null): void {
    const session = new SessionUsage()
    session.model = model
    this.session = session
    this.#messages = new FrameMessages(text => session.take(text), isWorthReading)
  }

  noteFrames(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.#messages?.push(bytes)
  }

  noteRelayed(bytes: Buffer): void {
    this.relayed?.take(bytes)
  }

  noteOwnResponse(body: string): void {
    if (!this.keepsPayloads || !this.isUnderWay) return
    this.relayed = new Capture({ isEncoded: false })
    this.relayed.take(Buffer.from(body, 'latin1'))
  }

  noteOwnEnd(text: string): void {
    if (!this.keepsPayloads || this.response === null) return
    if (this.relayed === null) {
      // The recording is full, so the end would be dropped.
      if (this.response.isCut) return
      this.relayed = new Capture({ isEncoded: false })
      this.relayed.take(this.response.head())
    }
    this.relayed.take(Buffer.from(text, 'latin1'))
  }
}

/** Pieces of audio are many and large. */
function isWorthReading(beginning: Buffer): boolean {
  return !beginning.subarray(0, 256).includes('audio.delta"')
}
