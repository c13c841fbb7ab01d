// Sends a request of a command. Not by `fetch`: what Node loads for it takes 50 ms of CPU, as much as all the
// rest of a command.

import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'

export interface Message {
  readonly method: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

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
  try {
    const sent = request(url, { method, headers: { ...headers, ...length }, signal }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    // Whatever breaks off from now on, the response tells as well.
    sent.on('error', () => {})
    return { status: response.statusCode!, headers: response.headers, text: await text(response) }
  } catch (cause) {
    signal.throwIfAborted()
    throw cause
  }
}
