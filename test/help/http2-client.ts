// Clients of HTTP/2 for tests: Node's own, with whole responses as one value.

import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'
import type { TestContext } from 'node:test'

/** A response over HTTP/2, as it ended. */
export interface Http2Response {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly trailers: IncomingHttpHeaders
  /** The code of a reset; 0 for a response that came to its end. */
  readonly code: number
}

interface Ask {
  readonly [name: string]: string | readonly string[]
}

/** Opens a connection by prior knowledge, or with TLS where the URL says https. */
export async function connectHttp2(
  t: TestContext,
  url: string,
  options: SecureClientSessionOptions = {},
): Promise<ClientHttp2Session> {
  const session = connect(url, options)
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'connect')
  return session
}

/** Sends a request for site.test and returns its response. */
export function ask(
  session: ClientHttp2Session,
  headers: Ask = {},
  body: Buffer | string | null = null,
): Promise<Http2Response> {
  const stream = open(session, headers, body === null)
  if (body !== null) stream.end(body)
  return responseTo(stream)
}

/** Opens a stream of a request for site.test. */
export function open(session: ClientHttp2Session, headers: Ask = {}, endStream = true): ClientHttp2Stream {
  const all = { ':path': '/', ':authority': 'site.test', ...headers } as Record<string, string>
  const stream = session.request(all, { endStream })
  stream.on('error', () => {})
  return stream
}

/** Reads the response on a stream to its end. */
export async function responseTo(stream: ClientHttp2Stream): Promise<Http2Response> {
  let headers: IncomingHttpHeaders = {}
  let trailers: IncomingHttpHeaders = {}
  const pieces: Buffer[] = []
  stream.on('response', got => {
    headers = got
  })
  stream.on('trailers', got => {
    trailers = got
  })
  stream.on('data', (piece: Buffer) => pieces.push(piece))
  await new Promise<void>(resolve => {
    stream.on('close', () => resolve())
  })
  const status = Number(headers[':status'] ?? 0)
  return { status, headers, body: Buffer.concat(pieces), trailers, code: stream.rstCode ?? 0 }
}
