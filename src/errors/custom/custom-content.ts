// Content that an operator serves instead of an error document: split at its tokens once, so that a response
// only fills them in.

import type { Facts } from '../../expression/expression.ts'
import type { ErrorContentType } from '../../config/model/custom-errors-config.ts'
import { escapeFor } from './content-escaping.ts'
import { writeBox } from './error-box.ts'
import type { Occasion } from '../catalogue/problem.ts'
import type { Refusal } from '../catalogue/refusal.ts'

/** Pages have the boxes as well as the tokens of the request. */
export type ContentKind = 'rule' | 'page'

export class CustomContent {
  /** Includes the charset, if the type has one. */
  readonly type: string
  /** Replaces the status of the error; null keeps it. */
  readonly status: number | null
  readonly #texts: readonly string[]
  /** Each follows the text with the same index. */
  readonly #tokens: readonly string[]
  readonly #escape: (text: string) => string

  constructor(kind: ContentKind, content: string, type: ErrorContentType, status: number | null) {
    const pieces = bytesOf(content).split(kind === 'page' ? pageTokens : ruleTokens)
    this.type = type.startsWith('text/') ? `${type}; charset=utf-8` : type
    this.status = status
    this.#texts = pieces.filter((_, i) => i % 2 === 0)
    this.#tokens = pieces.filter((_, i) => i % 2 === 1)
    this.#escape = escapeFor[type]
  }

  /** As UTF-8 with one character per byte. */
  fill(refusal: Refusal, occasion: Occasion, facts: Facts): string {
    const texts = this.#texts
    const tokens = this.#tokens
    let text = texts[0]!
    // A box takes some microseconds to write, and may occur in many places.
    const values = new Map<string, string>()
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i]!
      const value = values.get(token) ?? this.#valueOf(token, refusal, occasion, facts)
      values.set(token, value)
      text += value + texts[i + 1]!
    }
    return text
  }

  #valueOf(token: string, refusal: Refusal, occasion: Occasion, { request }: Facts): string {
    switch (token) {
      case '::RAY_ID::':
        return this.#value(occasion.ray)
      case '::CLIENT_IP::':
        return this.#value(request.ip)
      case '::GEO::':
        return this.#value(request.country)
      case '::SVC_ERROR_500S_BOX::':
        return writeBox('500s', refusal, occasion)
      default:
        return writeBox('1000s', refusal, occasion)
    }
  }

  #value(text: string): string {
    return plain.test(text) ? text : bytesOf(this.#escape(text))
  }
}

const ruleTokens = /(::CLIENT_IP::|::RAY_ID::|::GEO::)/
const pageTokens = /(::CLIENT_IP::|::RAY_ID::|::GEO::|::SVC_ERROR_500S_BOX::|::SVC_ERROR_1000S_BOX::)/

/** Matches text that has no meaning in any content type, in any position. */
const plain = /^[A-Za-z0-9.:]*$/

/** Writes a text as UTF-8 with one character per byte, as responses contain it. */
function bytesOf(text: string): string {
  return Buffer.byteLength(text) === text.length ? text : Buffer.from(text).toString('latin1')
}
