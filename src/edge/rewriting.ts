// A provider's answer on its way to a caller who speaks another API, or wants it in an envelope. Made by `plan-ai.ts`, used by `forward-http.ts`; answers that
// tell of failure are never touched.
import type { Call } from '../ai/plan.ts'
import type { EventTranslator, Translation } from '../ai/translation.ts'
import type { ResponseHead } from '../http1/response-head.ts'

/** What becomes of the body of one answer. */
export interface Rewriter {
  /** Takes bytes as they come; gives those to send on at once. */
  push(bytes: Buffer): Buffer | null
  /** Gives what is still to be sent; false when the answer can't be understood, or ended before it was whole. */
  end(): Buffer | null | false
}

export class Rewriting {
  readonly #translation: Translation | null

  constructor(translation: Translation | null) {
    this.#translation = translation
  }

  /** Makes the rewriter for the answer of this head; null where it is to be left alone, false where a content coding that nobody asked for hides it. */
  begin(head: ResponseHead): Rewriter | null | false {
    if (head.status < 200 || head.status > 299) return null
    if (head.isEncoded) return false
    if (this.#translation === null) return head.isEventStream ? null : new Enveloped()
    return head.isEventStream
      ? new TranslatedEvents(this.#translation.events())
      : new Translated(this.#translation)
  }
}

/** Says how the answer to a call must be rewritten; null when not at all. */
export function rewritingOf({ translation, wraps }: Call): Rewriting | null {
  return translation !== null || wraps ? new Rewriting(translation) : null
}

/** The answer as the result of the API envelope. */
class Enveloped implements Rewriter {
  #hasBegun = false

  push(bytes: Buffer): Buffer {
    if (this.#hasBegun) return bytes
    this.#hasBegun = true
    return Buffer.concat([OPENING, bytes])
  }

  end(): Buffer | false {
    return this.#hasBegun && CLOSING
  }
}

const OPENING = Buffer.from('{"success":true,"errors":[],"messages":[],"result":')
const CLOSING = Buffer.from('}')

class Translated implements Rewriter {
  readonly #translation: Translation
  readonly #pieces: Buffer[] = []

  constructor(translation: Translation) {
    this.#translation = translation
  }

  push(bytes: Buffer): null {
    this.#pieces.push(bytes)
    return null
  }

  end(): Buffer | false {
    const answer = this.#translation.answer(Buffer.concat(this.#pieces).toString())
    return answer === null ? false : Buffer.from(answer)
  }
}

class TranslatedEvents implements Rewriter {
  readonly #events: EventTranslator

  constructor(events: EventTranslator) {
    this.#events = events
  }

  push(bytes: Buffer): Buffer | null {
    return bytesOf(this.#events.push(bytes))
  }

  end(): Buffer | null | false {
    const rest = bytesOf(this.#events.end())
    return this.#events.isComplete ? rest : false
  }
}

function bytesOf(text: string): Buffer | null {
  return text === '' ? null : Buffer.from(text)
}
