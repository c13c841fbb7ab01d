// Rewrites a provider's response for a caller that uses another API, or wants an envelope.

import type { Call } from '../../ai/plan.ts'
import type { EventTranslator, Translation } from '../../ai/translate/translation.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Rewriter } from './rewriter.ts'
import { WithheldUsage } from './withheld-usage.ts'

/** application/json, and types that end in +json (RFC 6839 section 3.1). */
export const jsonType = /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;|$)/i

export class Rewriting {
  readonly #translation: Translation | null
  readonly #wraps: boolean
  readonly #hidesUsage: boolean

  constructor({ translation, wraps, hidesUsage }: Pick<Call, 'translation' | 'wraps' | 'hidesUsage'>) {
    this.#translation = translation
    this.#wraps = wraps
    this.#hidesUsage = hidesUsage
  }

  /** Null leaves the response unchanged; false for an unrequested coding, or what is not JSON. */
  begin(head: ResponseHead): Rewriter | null | false {
    if (head.status < 200 || head.status > 299) return null
    if (head.isEncoded) return this.#translation === null && !this.#wraps ? null : false
    if (this.#translation === null && (head.isEventStream || !this.#wraps))
      return this.#hidesUsage && head.isEventStream ? new WithheldUsage() : null
    if (this.#translation === null) return isJson(head) && new Enveloped()
    return head.isEventStream
      ? new TranslatedEvents(this.#translation.events())
      : new Translated(this.#translation, this.#wraps)
  }
}

/** Null passes the response on unchanged. */
export function rewritingOf(call: Call): Rewriting | null {
  return call.translation !== null || call.wraps || call.hidesUsage ? new Rewriting(call) : null
}

class Enveloped implements Rewriter {
  readonly holdsHead = false
  #hasBegun = false

  push(bytes: Buffer): Buffer {
    if (this.#hasBegun) return bytes
    this.#hasBegun = true
    return Buffer.concat([opening, bytes])
  }

  end(): Buffer | false {
    return this.#hasBegun && closing
  }
}

const opening = Buffer.from('{"success":true,"errors":[],"messages":[],"result":')
const closing = Buffer.from('}')

/** Far more than any real response. */
const maxResponse = 32 * 1024 * 1024

class Translated implements Rewriter {
  readonly holdsHead = true
  readonly #translation: Translation
  readonly #wraps: boolean
  readonly #body = new GrowingBytes()

  constructor(translation: Translation, wraps: boolean) {
    this.#translation = translation
    this.#wraps = wraps
  }

  push(bytes: Buffer): null | false {
    this.#body.append(bytes)
    return this.#body.size > maxResponse ? false : null
  }

  end(): Buffer | false {
    const response = this.#translation.response(this.#body.bytes.toString())
    if (response === null) return false
    const bytes = Buffer.from(response)
    return this.#wraps ? Buffer.concat([opening, bytes, closing]) : bytes
  }
}

class TranslatedEvents implements Rewriter {
  readonly holdsHead = false
  readonly #events: EventTranslator

  constructor(events: EventTranslator) {
    this.#events = events
  }

  push(bytes: Buffer): Buffer | null | false {
    const rewritten = bytesOf(this.#events.push(bytes))
    return this.#events.isBroken ? false : rewritten
  }

  end(): Buffer | null | false {
    const rest = bytesOf(this.#events.end())
    return this.#events.isComplete ? rest : false
  }
}

function isJson({ contentType }: ResponseHead): boolean {
  return contentType !== null && jsonType.test(contentType)
}

function bytesOf(text: string): Buffer | null {
  return text === '' ? null : Buffer.from(text)
}
