// Sends texts while they are made, so that a part is never mistaken for the whole.

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reset } from '../socket/reset.ts'

/**
 * Resolves when all are sent, or the reader has left. Rejects and resets the connection if the stream fails:
 * HTTP/1.0 takes a clean close for the end (RFC 9112 section 6.3).
 */
export async function sendStream(
  response: ServerResponse,
  first: readonly string[],
  stream: AsyncIterable<string>,
): Promise<void> {
  const all = async function* () {
    yield* first
    try {
      yield* stream
    } catch (cause) {
      if (response.socket !== null) reset(response.socket)
      throw cause
    }
  }
  try {
    await pipeline(Readable.from(all()), response)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw cause
  }
}
