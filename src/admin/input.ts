// Reads the JSON body of a request to the management API: its size, its type, its syntax. guard.ts calls it for every row that takes a body.

import type { IncomingMessage } from 'node:http'
import { type Answer, failure } from './envelope.ts'
import { faultCodes } from './field.ts'
import { repeatedMembers } from './repeated-members.ts'

/** The largest body, in bytes. */
export const largestBody = 1024 * 1024

/** Reads a body to its end; null when it is too large. What is left of it then is read and dropped, so that its sender gets to see the answer. */
export async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const body = Number(request.headers['content-length'] ?? 0) > largestBody ? null : await collect(request)
  if (body === null) request.resume()
  return body
}

/** Parses a body, or says why it can't be: too large (413), not called JSON (415), not JSON, or with repeated members (400). */
export function parseBody(body: Buffer | null, contentType: string | null): { json: unknown } | Answer {
  if (body === null)
    return failure(413, [{ code: 6005, message: `The body is larger than ${largestBody} bytes` }])
  if (!json.test(contentType ?? ''))
    return failure(415, [{ code: 6004, message: 'The Content-Type must be application/json' }])
  try {
    const text = utf8.decode(body)
    const value: unknown = JSON.parse(text)
    const repeated = repeatedMembers(text, mostRepeated)
    return repeated.length === 0 ? { json: value } : failure(400, repeated.map(toMistake))
  } catch {
    return failure(400, [{ code: 6003, message: 'The body is not valid JSON in UTF-8' }])
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const json = /^application\/json[ \t]*(?:;|$)/i
const mostRepeated = 100

function toMistake(pointer: string) {
  return { code: faultCodes.repeated, message: `${pointer} stands more than once`, pointer }
}

async function collect(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += (chunk as Buffer).length
    if (size > largestBody) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}
