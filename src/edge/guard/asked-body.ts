// A whole response that the webhook of a gateway is asked about at once.

import type { Stop } from '../../guard/guarded-events.ts'
import { readText } from '../../guard/readable.ts'
import { withoutLogprobs } from '../../guard/redact.ts'
import { AskedEvents } from '../../guard/webhook/asked-events.ts'
import { replaceTexts, textsOf } from '../../guard/webhook/json-texts.ts'
import type { Verdict } from '../../guard/webhook/verdict.ts'
import { GrowingBytes } from '../wire/growing-bytes.ts'
import type { Asked, Question, Urgency } from './asked.ts'
import { type EventList, eventsOf } from './event-list.ts'
import { maxBody } from './guarded-body.ts'
import { parse } from './parse.ts'
import type { BodyForm } from './response-form.ts'

export class AskedBody implements Asked {
  stop: Stop | null = null
  hasReplaced = false
  readonly isFull = false
  readonly #form: BodyForm
  readonly #body = new GrowingBytes()
  #text: AskedText | null = null

  constructor(form: BodyForm) {
    this.#form = form
  }

  get urgency(): Urgency {
    return this.#text === null ? 'none' : 'now'
  }

  push(bytes: Buffer): null {
    if (this.stop !== null) return null
    if (this.#body.size + bytes.length > maxBody) this.stop = { unreadable: 'a response that is too large' }
    else this.#body.append(bytes)
    return null
  }

  /** Returns a body that has no text. */
  end(): Buffer | null {
    if (this.#body.size === 0 || this.stop !== null) return null
    const text = readText(this.#body.bytes)
    if (text === null) {
      this.stop = { unreadable: 'a response that is no text in UTF-8' }
      return null
    }
    const asked = askedText(text, this.#form)
    this.stop = asked.stop ?? null
    if (this.stop !== null) return null
    if (asked.texts.length === 0) return this.#body.bytes
    this.#text = asked
    return null
  }

  question(): Question | null {
    return this.#text
  }

  obey(verdict: Verdict): Buffer | null {
    const text = this.#text!
    this.#text = null
    if (verdict.kind !== 'replace' || verdict.texts.size === 0) return this.#body.bytes
    const replaced = text.replace(verdict)
    if (replaced === null) {
      this.stop = { unreadable: 'a text that cannot be replaced as its webhook wants' }
      return null
    }
    this.hasReplaced = true
    return Buffer.from(replaced)
  }
}

type Replacing = Extract<Verdict, { kind: 'replace' }>

interface AskedText extends Question {
  /** Why some of it cannot be asked about. */
  readonly stop?: Stop | null
  /** Null if a text cannot be replaced. */
  replace(verdict: Replacing): string | null
}

function askedText(text: string, form: BodyForm): AskedText {
  const events = eventsOf(text, form)
  if (events !== null) return askedEvents(events)
  if (form === 'text' || parse(text) === text)
    return { texts: [text], replace: ({ texts }) => texts.get(text) ?? null }
  return { texts: textsOf(text), replace: ({ texts }) => withoutProbabilities(replaceTexts(text, texts)) }
}

function askedEvents(events: EventList): AskedText {
  const asked = new AskedEvents()
  events.read(asked)
  return {
    texts: asked.question()?.texts ?? [],
    stop: asked.stop,
    replace: verdict => {
      asked.obey(verdict)
      return asked.stop === null ? events.write() : null
    },
  }
}

/** They tell the text once more. */
function withoutProbabilities(json: string | null): string | null {
  const value = json?.includes('logprobs') ? parse(json) : null
  withoutLogprobs(value)
  return value === null ? json : JSON.stringify(value)
}
