// An event stream that the webhook of a gateway is asked about, window by window.

import type { Stop } from '../../guard/guarded-events.ts'
import { AskedEvents } from '../../guard/webhook/asked-events.ts'
import type { Verdict } from '../../guard/webhook/verdict.ts'
import { GuardedStream } from './guarded-stream.ts'
import type { Asked, Question, Urgency } from './asked.ts'

/** UTF-16 units of new text that are asked about at once. */
const fullWindow = 2_000
/** UTF-16 units of events that are held before the provider has to wait. */
const maxHeld = 64 * 1024

export class AskedStream implements Asked {
  readonly #events = new AskedEvents()
  readonly #stream = new GuardedStream(this.#events)

  get stop(): Stop | null {
    return this.#events.stop
  }

  get hasReplaced(): boolean {
    return this.#events.hasRedacted
  }

  get isFull(): boolean {
    return this.#events.heldSize > maxHeld
  }

  get urgency(): Urgency {
    const { newSize } = this.#events
    if (newSize === 0) return 'none'
    return newSize < fullWindow ? 'soon' : 'now'
  }

  push(bytes: Buffer): Buffer | null {
    return this.#stream.push(bytes)
  }

  end(): Buffer | null {
    return this.#stream.end()
  }

  question(): Question | null {
    return this.#events.question()
  }

  obey(verdict: Verdict): Buffer | null {
    const text = this.#events.obey(verdict)
    return text === '' ? null : Buffer.from(text)
  }
}
