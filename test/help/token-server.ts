// A service that makes keys, as the login services of clouds are: real HTTPS on loopback, with a record of what was asked.

import { once } from 'node:events'
import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { selfSigned } from '../../src/process/demo/self-signed.ts'

interface TokenRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly form: URLSearchParams
}

export interface TokenServer {
  readonly url: string
  /** PEM of what it is trusted by. */
  readonly ca: string
  readonly asked: TokenRequest[]
}

/** Starts one that answers as told, until the test ends; `isPlain` as metadata services are. */
export async function startTokenServer(
  t: TestContext,
  reply: (asked: TokenRequest, response: ServerResponse) => unknown,
  { isPlain = false } = {},
): Promise<TokenServer> {
  const asked: TokenRequest[] = []
  const certificate = selfSigned('localhost')
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const { method, url, headers } = request
    const one = { method: method!, path: url!, headers, body, form: new URLSearchParams(body) }
    asked.push(one)
    await reply(one, response)
  }
  const server = isPlain ? createPlain(serve) : createServer(certificate, serve)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const url = isPlain ? `http://127.0.0.1:${port}` : `https://localhost:${port}`
  return { url, ca: certificate.cert, asked }
}

/** Answers as login services do. */
export function grant(response: ServerResponse, token: string, seconds = 3600): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: seconds }))
}

export function deny(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}
