// Finds a plain ASCII model name in the first bytes of a request.

import { isSpace } from '../ai/members.ts'
const longest = 256

/** The model that was read last: mostly the next one is the same. */
let last = ''

/** Reads the first member of that name, where it begins within `near` bytes; null where it is not a string, or has to be decoded. */
export function plainModel(body: Buffer, near: number): string | null {
  const colon = behindSpace(body, behindName(body, near))
  if (body[colon] !== colonMark) return null
  const quote = behindSpace(body, colon + 1)
  if (body[quote] !== quoteMark) return null
  const start = quote + 1
  const end = endOfPlain(body, start)
  if (end === -1) return null
  if (!isLast(body, start, end)) last = body.toString('latin1', start, end)
  return last
}

/** Returns the offset after the first name; the end of the body where there is none. */
function behindName(body: Buffer, near: number): number {
  const most = Math.min(body.length, near) - name.length
  for (let at = 0; at <= most; at++) if (body[at] === quoteMark && isName(body, at)) return at + name.length
  return body.length
}

function isName(body: Buffer, start: number): boolean {
  for (let i = 1; i < name.length; i++) if (body[start + i] !== name[i]) return false
  return true
}

function behindSpace(body: Buffer, start: number): number {
  let at = start
  while (at < body.length && isSpace(body[at]!)) at++
  return at
}

/** Returns the end of a string that has no escapes and no bytes beyond ASCII; -1 for all others. */
function endOfPlain(body: Buffer, start: number): number {
  const most = Math.min(body.length, start + longest + 1)
  for (let at = start; at < most; at++) {
    const byte = body[at]!
    if (byte === quoteMark) return at === start ? -1 : at
    if (byte === backslash || byte > 0x7f) return -1
  }
  return -1
}

function isLast(body: Buffer, start: number, end: number): boolean {
  if (last.length !== end - start) return false
  for (let at = start; at < end; at++) if (body[at] !== last.charCodeAt(at - start)) return false
  return true
}

const name = Buffer.from('"model"')
const quoteMark = 0x22
const colonMark = 0x3a
const backslash = 0x5c
