// Reads the body of a request to the management API: its size, its type, its syntax.

import type { IncomingMessage } from 'node:http'
import { nextTurn } from '../../base/turns/turns.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import { maxErrorPage } from '../../config/model/custom-errors-config.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { type ApiResponse, failure, failures } from './envelope.ts'
import { Field } from './field.ts'
import { hasMoreParts } from './json-complexity.ts'
import { repeatedMembers } from './duplicate-members.ts'

export interface BodyKind {
  readonly type: string
  readonly isType: RegExp
  readonly maxBytes: number
  readonly parse: (text: string) => { value: unknown } | ApiResponse
  /** Maximum of commas, colons and opening brackets outside of strings. */
  readonly maxParts: number
}

interface Input {
  readonly value: unknown
  readonly bytes: Buffer | null
}

const mebibyte = 1024 * 1024

export const jsonBody: BodyKind = {
  type: 'application/json',
  isType: /^application\/json[ \t]*(?:;|$)/i,
  maxBytes: mebibyte,
  parse: parseJson,
  // Fifty times as many as the largest valid one.
  maxParts: 20_000,
}

export const htmlBody: BodyKind = {
  type: 'text/html',
  isType: /^text\/html[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?$/i,
  maxBytes: maxErrorPage,
  parse: html => ({ value: html }),
  maxParts: Infinity,
}

/** JSON that may contain such a page, escaped. */
export const largeJsonBody: BodyKind = { ...jsonBody, maxBytes: 4 * mebibyte }

/** Refuses a body that is too large (413), of another type (415), or invalid (400). */
export async function readInput(
  kind: BodyKind | null,
  contentType: string | null,
  readBytes: (maxBytes: number) => Promise<Buffer | null>,
): Promise<Input | ApiResponse> {
  const bytes = await readBytes((kind ?? jsonBody).maxBytes)
  if (kind === null && bytes?.length === 0) return noInput
  const parsed = await parseBody(bytes, contentType, kind ?? jsonBody)
  if ('status' in parsed) return parsed
  return kind === null ? expectNothing(parsed.value) : { ...parsed, bytes }
}

export const noInput: Input = { value: null, bytes: null }

/** Null when it is too large: the rest is then discarded, so that its sender gets to see the response. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const isTooLarge = Number(request.headers['content-length'] ?? 0) > maxBytes
  const body = isTooLarge ? null : await collect(request, maxBytes)
  if (body === null) request.resume()
  return body
}

async function parseBody(
  body: Buffer | null,
  contentType: string | null,
  { type, isType, maxBytes, parse, maxParts }: BodyKind,
): Promise<{ value: unknown } | ApiResponse> {
  if (body === null) return failure('too_large', maxBytes)
  if (!isType.test(contentType ?? '')) return failure('wrong_type', type)
  if (body.length > maxParts && (await hasMoreParts(body, maxParts)))
    return failure('unreadable_body', `JSON with at most ${maxParts} values`)
  try {
    const text = utf8.decode(body)
    if (body.length > large) await nextTurn()
    return parse(text)
  } catch {
    return failure('unreadable_body', type === jsonBody.type ? 'valid JSON in UTF-8' : 'in UTF-8')
  }
}

/** Some clients always send an empty object; anything else would be ignored, and is refused. */
function expectNothing(value: unknown): Input | ApiResponse {
  const faults: Fault[] = []
  new Field(value, faults).members([])
  return faults.length > 0 ? failures(faults) : noInput
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const maxRepeated = 100
const large = 64 * 1024

function parseJson(text: string): { value: unknown } | ApiResponse {
  const value: unknown = JSON.parse(text)
  const repeated = repeatedMembers(text, maxRepeated)
  return repeated.length === 0 ? { value } : failures(repeated.map(repetition))
}

function repetition(pointer: string): Fault {
  return faultAt(pointer, 'repeated', pointer, 'is a duplicate member')
}

async function collect(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length
    if (size > maxBytes) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
