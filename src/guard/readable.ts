// Whether a body can be looked at: as its recipient reads it, or not at all.

import { isUtf8 } from 'node:buffer'

const json = /^application\/(?:[\w.+-]+\+)?json[ \t]*(?:;|$)/i
const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^"; \t]*)/i

interface BodyType {
  readonly contentType: string | null
  readonly contentEncoding: string | null
}

/** Returns JSON in UTF-8 as text; null for anything else, which somebody might read as JSON all the same. */
export function readJson(
  body: Buffer,
  { contentType, contentEncoding }: BodyType,
  isParsed = false,
): string | null {
  if (contentEncoding !== null) return null
  if (contentType !== null && !json.test(contentType)) return null
  if (!isOfUtf8(contentType)) return null
  const text = readText(body)
  return text !== null && (isParsed || isJson(text)) ? text : null
}

/** Returns a text in UTF-8; null for bytes that are none. JSON in UTF-16 has zeros. */
export function readText(body: Buffer): string | null {
  return isUtf8(body) && !body.includes(0) ? body.toString() : null
}

function isOfUtf8(contentType: string | null): boolean {
  const name = contentType === null ? undefined : charset.exec(contentType)?.[1]
  return name === undefined || /^(?:utf-?8|us-ascii)$/i.test(name)
}

/** Behind a byte order mark as well. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
    return true
  } catch {
    return false
  }
}
