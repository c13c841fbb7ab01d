// Chooses the content coding of a response from Accept-Encoding (RFC 9110 section 12.5.3).

import Negotiator from 'negotiator'
import { memoizeTexts } from '../../base/text/own-text.ts'
import type { ContentCoding } from '../../config/model/compression-config.ts'

/** Clients send few different lines. */
const cached = { max: 64, maxLength: 256 }
const maxLength = 4096

/**
 * Makes a function that returns the coding with the highest weight, among equals the most preferred. Null if
 * plain content weighs more, none is accepted, or the line is malformed.
 */
export function acceptedCoding(available: readonly ContentCoding[]): (line: string) => ContentCoding | null {
  const codings = [...available, identity]
  return memoizeTexts(cached, line => {
    if (line.length > maxLength || !wellFormed.test(line)) return null
    const headers = { 'accept-encoding': line.toLowerCase().replaceAll(oldGzip, 'gzip') }
    const negotiator = new Negotiator({ headers }) as unknown as Ranking
    const [best] = negotiator.encodings(codings, { preferred: codings })
    return best === undefined || best === identity ? null : (best as ContentCoding)
  })
}

interface Ranking {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): readonly string[]
}

const identity = 'identity'

/** For recipients older than the registration of gzip (RFC 9110 section 8.4.1.3). */
const oldGzip = /(?<![^, \t])x-gzip(?![^,; \t])/g

const token = "[\\w!#$%&'*+.^`|~-]+"
const weight = '(?:[ \\t]*;[ \\t]*[qQ]=(?:0(?:\\.\\d{0,3})?|1(?:\\.0{0,3})?))?'
/** Blanks without a coding have one place in it: with two, each element would double the ways to match. */
const element = `[ \\t]*(?:${token}${weight}[ \\t]*)?`
const wellFormed = new RegExp(`^${element}(?:,${element})*$`)
