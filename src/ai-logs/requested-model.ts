// Finds the model of a request that was not parsed.

import { lastMember } from '../base/json/members.ts'

const longest = 256

/** Finds it in the path (Google, Azure, Bedrock), else in the captured part of a JSON body; null for none. */
export function requestedModel(path: string, body: Buffer | null): string | null {
  return modelOfPath(path) ?? (body && modelOfBody(body))
}

/** There are few paths: mostly the last one comes again. */
let last: { readonly path: string; readonly model: string | null } = { path: '', model: null }

function modelOfPath(path: string): string | null {
  if (path !== last.path) last = { path, model: modelIn(path) }
  return last.model
}

function modelIn(path: string): string | null {
  const [, plain] = pathModel.exec(canonical(path)) ?? []
  if (plain !== undefined) return plain
  const [, encoded] = bedrockModel.exec(path) ?? []
  return encoded === undefined ? null : unescaped(encoded)
}

/** Below `/models/`, Azure also has calls whose body names the model. */
const pathModel = /\/(?:models\/(?!chat\/completions|images\/)|deployments\/)([\w.@~-]{1,256})[:/]/i

/** As providers may read it, which may unescape letters and merge slashes: the body has no say there. */
function canonical(path: string): string {
  if (!path.includes('%') && !path.includes('//')) return path
  return path
    .replace(/%[\da-f]{2}/gi, text => {
      const character = String.fromCharCode(Number.parseInt(text.slice(1), 16))
      return /[\w.~-]/.test(character) ? character : text
    })
    .replace(/\/{2,}/g, '/')
}

/** As in us.anthropic.claude-haiku-4-5-20251001-v1%3A0; ARNs of profiles have slashes, too. */
const bedrockModel = /^\/model\/((?:[\w.:~-]|%[\dA-F]{2}){1,256})\/[\w-]+$/i

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Takes the last such member at the top, as providers do: tools may have some, too. */
function modelOfBody(body: Buffer): string | null {
  const member = lastMember(body, name)
  if (member === null) return null
  const { start, end } = member
  return isPlain(body, start, end) ? plainModel(body, start + 1, end - 1) : decoded(body, start, end)
}

const name = Buffer.from('"model"')

/** The model that was read last: mostly the next one is the same. */
let plain = ''

function plainModel(body: Buffer, start: number, end: number): string {
  if (!isSame(body, start, end)) plain = body.toString('latin1', start, end)
  return plain
}

function isSame(body: Buffer, start: number, end: number): boolean {
  if (plain.length !== end - start) return false
  for (let at = start; at < end; at++) if (body[at] !== plain.charCodeAt(at - start)) return false
  return true
}

/** Whether a value is a string of the right length without escapes and bytes beyond ASCII. */
function isPlain(body: Buffer, start: number, end: number): boolean {
  if (end - start <= 2 || end - start > longest + 2) return false
  if (body[start] !== quote || body[end - 1] !== quote) return false
  for (let at = start + 1; at < end - 1; at++) {
    const byte = body[at]!
    if (byte < firstPlain || byte > lastPlain || byte === backslash) return false
  }
  return true
}

function decoded(body: Buffer, start: number, end: number): string | null {
  // An escape has six bytes.
  if (body[start] !== quote || end - start > 6 * longest + 2) return null
  try {
    const model: string = JSON.parse(body.toString('utf8', start, end))
    return model === '' || model.length > longest ? null : model
  } catch {
    return null
  }
}

const firstPlain = 0x20
const lastPlain = 0x7e
const quote = 0x22
const backslash = 0x5c
