// Field lines, read strictly: no folded lines, no bare CR or LF, no space before a colon.

import { colon, cr, htab, isFieldByte, isTokenByte, lf, sp } from './characters.ts'
import { type FieldId, fieldId } from './fields.ts'

/** `field` returns false to stop the parser. */
export interface FieldReader {
  field(name: string, value: string, id: FieldId): boolean
}

const headEnd = Buffer.from('\r\n\r\n')

/** The offset after the empty line of the head that begins at `start`; -1 if it is incomplete. */
export function endOfHead(bytes: Buffer, start: number): number {
  const at = bytes.indexOf(headEnd, start)
  return at === -1 ? -1 : at + 4
}

/** Whether an incomplete head can still become valid: otherwise the peer would hang until its timeout. */
export function mayContinue(bytes: Buffer, from: number): boolean {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === 0 || (byte === lf && bytes[i - 1] !== cr)) return false
    if (byte === cr && i + 1 < bytes.length && bytes[i + 1] !== lf) return false
  }
  return true
}

/**
 * Reads the field lines between `at` and `end` (after the empty line); `text` holds the same bytes as latin1
 * from `offset` on. Returns false if a line is malformed or the reader refused one.
 */
export function readFieldLines(
  bytes: Buffer,
  text: string,
  offset: number,
  at: number,
  end: number,
  reader: FieldReader,
): boolean {
  const last = end - 2
  while (at < last) {
    const nameStart = at
    while (isTokenByte[bytes[at]!] === 1) at++
    if (bytes[at] !== colon || at === nameStart) return false
    const name = text.slice(nameStart - offset, at - offset)
    at++
    while (bytes[at] === sp || bytes[at] === htab) at++
    const valueStart = at
    while (isFieldByte[bytes[at]!] === 1) at++
    if (bytes[at] !== cr || bytes[at + 1] !== lf) return false
    let valueEnd = at
    while (valueEnd > valueStart && (bytes[valueEnd - 1] === sp || bytes[valueEnd - 1] === htab)) valueEnd--
    if (!reader.field(name, text.slice(valueStart - offset, valueEnd - offset), fieldId(name))) return false
    at += 2
  }
  return at === last
}

/** Digits only, at most 2^53 - 1 (RFC 9110 section 8.6); -1 for anything else. */
export function parseContentLength(value: string): number {
  if (value.length === 0 || value.length > 16) return -1
  let length = 0
  for (let i = 0; i < value.length; i++) {
    const digit = value.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return Number.isSafeInteger(length) ? length : -1
}
