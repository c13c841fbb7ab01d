// Sends a request of a command. Not by `fetch`: what Node loads for it takes 50 ms of CPU, as much as all the
// rest of a command.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'

export interface Message {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** In MiB: more than 100 records of the largest size that the API takes. */
export const maxResponse = 128
/** The code of the error for one that has more. */
export const tooLong = 'RESPONSE_TOO_LONG'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Follows no redirection. Throws the reason of the signal once aborted, or an error of Node with a code. */
export async function exchange(url: string, message: Message, signal: AbortSignal): Promise<Reply> {
  const { method, headers, body } = message
  // An import would read all that it exports, and load `fetch` with it.
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
  const received = Promise.withResolvers<IncomingMessage>()
  try {
    const sent = request(url, { method, headers: { ...headers, ...length }, signal }, received.resolve)
    // Whatever breaks off after the head, the response tells as well.
    sent.on('error', received.reject)
    // Node tells nobody else that a response switches protocols.
    sent.once('upgrade', (response, socket) => {
      socket.destroy()
      received.resolve(response)
    })
    sent.end(body)
    const response = await received.promise
    const status = response.statusCode!
    return { status, headers: response.headers, text: status === 101 ? '' : await textOf(response) }
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  }
}

async function textOf(response: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response) {
    length += chunk.length
    if (length > maxResponse * 2 ** 20) throw Object.assign(new Error('too long'), { code: tooLong })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
