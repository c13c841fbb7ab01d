// Records an AI call for the log of its gateway as it passes: both bodies, and when the response began.

import type { Clock } from '../../base/clock.ts'
import { SessionUsage } from '../../ai/usage/session.ts'
import { Capture } from '../../ai-logs/capture.ts'
import type { Metadata } from '../../store/records/records.ts'
import { FrameMessages } from '../../http1/websocket/frame-messages.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'

export class Tap {
  /** Whether bodies are stored with the entry, and not only read for model and usage. */
  readonly keepsPayloads: boolean
  /** Whether the call was sent to a provider, so that there is something to log. */
  isUnderWay = false
  metadata: Metadata | null = null
  readonly request: Capture | null
  response: Capture | null = null
  /** What the client gets in place of the provider's response; null if it gets that. */
  relayed: Capture | null = null
  head: ResponseHead | null = null
  /** What the events of a WebSocket report; null for any other call. */
  session: SessionUsage | null = null
  #messages: FrameMessages | null = null
  /** Monotonic ms at which the first byte of the response body arrived; 0 before. */
  firstByteAt = 0

  constructor({ keepsPayloads, isEncoded }: { keepsPayloads: boolean; isEncoded: boolean }) {
    this.keepsPayloads = keepsPayloads
    this.request = keepsPayloads ? new Capture({ isEncoded }) : null
  }

  /** Records bytes of the request body. */
  noteRequest(bytes: Buffer): void {
    this.request?.take(bytes)
  }

  /** Records the head of the provider's response, and whether its body is rewritten for the client. */
  noteHead(head: ResponseHead, isRewritten: boolean): void {
    this.head = head
    this.firstByteAt = 0
    this.relayed = null
    this.response = new Capture({ isEncoded: head.isEncoded })
    if (this.keepsPayloads && isRewritten) this.relayed = new Capture({ isEncoded: false })
  }

  /** Records bytes of the provider's response. */
  noteResponse(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.response?.take(bytes)
  }

  /** Starts reading the events of a WebSocket. `model` is the one in the handshake; null for none. */
  noteSession(model: string | null): void {
    const session = new SessionUsage()
    session.model = model
    this.session = session
    this.#messages = new FrameMessages(text => session.take(text), isWorthReading)
  }

  /** Records bytes that the provider sends over a WebSocket. */
  noteFrames(bytes: Buffer, clock: Clock): void {
    if (this.firstByteAt === 0) this.firstByteAt = clock.monotonic()
    this.#messages?.push(bytes)
  }

  /** Records bytes that the client gets in place of the provider's. */
  noteRelayed(bytes: Buffer): void {
    this.relayed?.take(bytes)
  }

  /** Records the gateway's own response, which the client gets in place of the provider's. */
  noteOwnResponse(body: string): void {
    if (!this.keepsPayloads || !this.isUnderWay) return
    this.relayed = new Capture({ isEncoded: false })
    this.relayed.take(Buffer.from(body, 'latin1'))
  }

  /** Records what the client gets after the part of the provider's response that it has. */
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

/** Whether an event is anything but a piece of audio: those are many and large. */
function isWorthReading(beginning: Buffer): boolean {
  return !beginning.subarray(0, 256).includes('audio.delta"')
}
