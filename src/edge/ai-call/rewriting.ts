// Rewrites responses for callers with another API, an envelope, or several providers in turn.

import type { ReasoningTags } from '../../ai/failover/reasoning-tags.ts'
import type { Call } from '../../ai/plan.ts'
import type { EventTranslator, Translation } from '../../ai/translate/translation.ts'
import type { ResponseHead } from '../../http1/heads/response-head.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Rewriter } from './rewriter.ts'
import { CompleteEvents } from './complete-events.ts'
import { withoutUsage } from './withheld-usage.ts'

/** application/json, and types that end in +json (RFC 6839 section 3.1). */
export const jsonType = /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;|$)/i

type Wishes = Pick<Call, 'translation' | 'wraps' | 'hidesUsage' | 'reasoningTags'>

export class Rewriting {
  readonly #translation: Translation | null
  readonly #wraps: boolean
  readonly #hidesUsage: boolean
  readonly #tags: ReasoningTags | null

  constructor({ translation, wraps, hidesUsage, reasoningTags }: Wishes) {
    this.#translation = translation
    this.#wraps = wraps
    this.#hidesUsage = hidesUsage
    this.#tags = reasoningTags
  }

  /**
   * Null leaves it unchanged; false for an unrequested coding, or no JSON. `whole` is the body if known
   * already.
   */
  begin(head: ResponseHead, whole: Buffer | null = null): Rewriter | null | false {
    if (head.status > 399) return this.#error(head)
    if (head.status < 200 || head.status > 299) return null
    if (head.isEncoded) return this.#translation === null && !this.#wraps ? null : false
    if (this.#translation === null) return head.isEventStream ? this.#events() : this.#body(head, whole)
    return head.isEventStream
      ? new TranslatedEvents(this.#translation.events())
      : new Translated(this.#translation, this.#wraps)
  }

  #error(head: ResponseHead): Rewriter | null {
    const translation = this.#translation
    if (translation?.failure === undefined || head.isEncoded || !isJson(head)) return null
    return new WholeBody(maxError, body => {
      const failure = translation.failure!(body.toString(), head.status)
      return failure === null ? body : Buffer.from(failure)
    })
  }

  #events(): Rewriter | null {
    const tags = this.#tags
    if (tags === null) return this.#hidesUsage ? new CompleteEvents(maxUsageEvent, withoutUsage) : null
    const tag = tags.tagEvents.bind(tags)
    if (!this.#hidesUsage) return new CompleteEvents(maxEvent, tag)
    return new CompleteEvents(maxEvent, events => {
      const remaining = withoutUsage(events)
      return remaining === null ? null : tag(remaining)
    })
  }

  #body(head: ResponseHead, whole: Buffer | null): Rewriter | null | false {
    if (!isJson(head)) return this.#wraps ? false : null
    const tags = this.#tags
    const isTagged = tags !== null && (whole === null || tags.isNeededIn(whole))
    const tagged = isTagged ? new WholeBody(maxResponse, tags.tagBody.bind(tags)) : null
    return this.#wraps ? new Enveloped(tagged) : tagged
  }
}

/** Bytes of an event that is searched for usage, which is far smaller, and for reasoning. */
const maxUsageEvent = 64 * 1024
const maxEvent = 16 * 1024 * 1024

/** Null passes the response on unchanged. */
export function rewritingOf(call: Call): Rewriting | null {
  const { translation, wraps, hidesUsage, reasoningTags } = call
  return translation !== null || wraps || hidesUsage || reasoningTags !== null ? new Rewriting(call) : null
}

class Enveloped implements Rewriter {
  readonly holdsHead = false
  /** Rewrites the result itself; null leaves it unchanged. */
  readonly #result: WholeBody | null
  #hasBegun = false

  constructor(result: WholeBody | null) {
    this.#result = result
  }

  push(bytes: Buffer): Buffer | null {
    return this.#wrap(this.#result === null ? bytes : this.#result.push(bytes))
  }

  end(): Buffer | false {
    const rest = this.#wrap(this.#result === null ? null : this.#result.end())
    return this.#hasBegun && (rest === null ? closing : Buffer.concat([rest, closing]))
  }

  #wrap(bytes: Buffer | null): Buffer | null {
    if (bytes === null || this.#hasBegun) return bytes
    this.#hasBegun = true
    return Buffer.concat([opening, bytes])
  }
}

const opening = Buffer.from('{"success":true,"errors":[],"messages":[],"result":')
const closing = Buffer.from('}')

const maxError = 1024 * 1024

/** Far more than any real response. */
const maxResponse = 32 * 1024 * 1024

/** Rewrites a whole response. A larger one stays as it is: reasoning without a tag goes to no provider. */
class WholeBody implements Rewriter {
  readonly holdsHead = false
  readonly #max: number
  readonly #rewrite: (body: Buffer) => Buffer
  /** Null once the response is too large. */
  #body: GrowingBytes | null = new GrowingBytes()

  constructor(max: number, rewrite: (body: Buffer) => Buffer) {
    this.#max = max
    this.#rewrite = rewrite
  }

  push(bytes: Buffer): Buffer | null {
    const body = this.#body
    if (body === null) return bytes
    body.append(bytes)
    if (body.size <= this.#max) return null
    this.#body = null
    return body.bytes
  }

  end(): Buffer | null {
    const body = this.#body
    return body === null || body.size === 0 ? null : this.#rewrite(body.bytes)
  }
}

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
