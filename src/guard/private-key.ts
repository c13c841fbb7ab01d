// Private keys in PEM (RFC 7468), of any algorithm, also encrypted (RFC 1421), with line ends of any kind.

import { isDigit, isWord, noMatch, type Pattern, undecided } from './pattern.ts'

const opening = '-----BEGIN '
const ending = '-----END '
const kind = 'PRIVATE KEY'
const dashes = '-----'

/** Characters between the dashes: `RSA PRIVATE KEY`, `PGP PRIVATE KEY BLOCK`. */
const maxLabel = 64
/** Characters before the first line of base64: the fields of an encrypted key. */
const maxFields = 256
/** Characters of base64 in a row, which no prose has. */
const minLine = 32
/** Shorter words behind that are no lines, but for the last one. */
const minLaterLine = 16
/** Far more than any key has: a match ends there. */
const maxLength = 16 * 1024

export const privateKey: Pattern = {
  name: 'private_key',
  title: 'Private keys in PEM',
  beginning: opening,
  first: '-',
  endOf: endOfKey,
}

function endOfKey(text: string, at: number, isFinal: boolean): number {
  const open = endOfLine(opening, text, at, isFinal)
  if (open === noMatch || open === undecided) return open
  const line = firstLine(text, open, isFinal)
  return line === noMatch || line === undecided ? line : endOfLines(text, at, line, isFinal)
}

/** The end of a line such as `-----BEGIN RSA PRIVATE KEY-----`. */
function endOfLine(beginning: string, text: string, at: number, isFinal: boolean): number {
  if (!text.startsWith(beginning, at)) return endOfPiece(beginning, text, at, isFinal)
  const start = at + beginning.length
  const last = Math.min(text.length, start + maxLabel)
  let end = start
  while (end < last && isOfLabel(text.charCodeAt(end))) end++
  if (end - start === maxLabel) return noMatch
  if (end === text.length) return isFinal ? noMatch : undecided
  if (!text.slice(start, end).includes(kind)) return noMatch
  return text.startsWith(dashes, end) ? end + dashes.length : endOfPiece(dashes, text, end, isFinal)
}

/** Undecided if the text ends within the piece. */
function endOfPiece(piece: string, text: string, at: number, isFinal: boolean): number {
  const isOpen = !isFinal && text.length - at < piece.length && piece.startsWith(text.slice(at))
  return isOpen ? undecided : noMatch
}

/** A position in the first line of base64. */
function firstLine(text: string, from: number, isFinal: boolean): number {
  const last = Math.min(text.length, from + maxFields)
  let length = 0
  for (let i = from; i < last; i++) {
    const code = text.charCodeAt(i)
    length = isBase64(code) ? length + 1 : 0
    if (length === minLine) return i
    if (length === 0 && !isOfField(code)) return noMatch
  }
  return last === text.length && !isFinal && last < from + maxFields ? undecided : noMatch
}

function endOfLines(text: string, at: number, from: number, isFinal: boolean): number {
  const limit = at + maxLength
  let end = endOfBase64(text, from, limit)
  while (end < limit) {
    const next = skipSpace(text, end)
    if (next === text.length) return isFinal ? end : undecided
    const close = endOfLine(ending, text, next, isFinal)
    if (close !== noMatch) return close
    const word = endOfBase64(text, next, limit)
    if (word === text.length && !isFinal) return undecided
    if (word - next < minLaterLine && word < limit) return endOfLast(text, end, word, isFinal)
    end = word
  }
  return limit
}

/** The last line of a key may be short. */
function endOfLast(text: string, before: number, end: number, isFinal: boolean): number {
  const next = skipSpace(text, end)
  if (next === text.length && !isFinal) return undecided
  const close = endOfLine(ending, text, next, isFinal)
  return close === noMatch ? before : close
}

function endOfBase64(text: string, from: number, limit: number): number {
  const last = Math.min(text.length, limit)
  let end = from
  while (end < last && isBase64(text.charCodeAt(end))) end++
  return end
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (at < text.length && isSpace(text.charCodeAt(at))) at++
  return at
}

function isOfLabel(code: number): boolean {
  return code === 0x20 || (code >= 0x41 && code <= 0x5a) || isDigit(code)
}

function isBase64(code: number): boolean {
  return isWord(code) || code === 0x2b || code === 0x2f || code === 0x3d
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0x5c
}

/** Of the fields before the key, or of white space. */
function isOfField(code: number): boolean {
  return code < 0x80 && code !== 0x22
}
