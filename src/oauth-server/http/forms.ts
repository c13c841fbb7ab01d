// Forms in the bodies of requests.

import type { IncomingMessage } from 'node:http'

/** In bytes. */
const maxForm = 56 * 1024
export const tooLarge = 'the body must have at most 56 KiB'

export async function readForm(request: IncomingMessage): Promise<URLSearchParams | null> {
  const pieces: Buffer[] = []
  let length = 0
  // The connection outlives a form that is too large.
  for await (const piece of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += piece.length
    if (length > maxForm) return null
    pieces.push(piece)
  }
  return new URLSearchParams(Buffer.concat(pieces).toString())
}
