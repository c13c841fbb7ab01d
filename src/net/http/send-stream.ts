// Sends texts that are made while they are sent, so that nobody takes a part for the whole.

import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { reset } from '../socket/reset.ts'

/**
 * Sends the first texts and then those that come; resolves when all are sent, or who reads them has left. Rejects with what the stream failed with: the connection
 * is reset then, since to a client of HTTP/1.0, such as many proxies are, one that closes is the end of the whole (RFC 9112 section 6.3).
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
