// The head of a rehearsed request, as the bytes that would arrive.

import type { RequestInQuestion } from '../../zones/explanation.ts'

/** Writes the head; no part of the request may contain line breaks. */
export function headBytes(question: RequestInQuestion): Buffer {
  const { method, target, host, headers } = question
  const fields = [...(host === null ? [] : [['Host', host]]), ...headers, ...lengthOf(question)]
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n`)
}

function lengthOf({ headers, body, bodySize }: RequestInQuestion): readonly (readonly string[])[] {
  const size = body === null ? bodySize : Buffer.byteLength(body)
  const isFramed = headers.some(([name]) => /^(content-length|transfer-encoding)$/i.test(name))
  return size === null || isFramed ? [] : [['Content-Length', String(size)]]
}
