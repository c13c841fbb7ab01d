// Responses of the endpoints that are served without the library.

import type { ServerResponse } from 'node:http'
import type { PageResponse } from '../../pages/parts/layout.ts'
import { errorUri } from './paths.ts'

export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = `${JSON.stringify(body)}\n`
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

export function sendPage(response: ServerResponse, { status, headers, body }: PageResponse): void {
  for (const [name, value] of headers) response.setHeader(name, value)
  response.writeHead(status, { 'content-length': Buffer.byteLength(body) })
  response.end(body)
}

interface ErrorResponse {
  readonly status: number
  readonly error: string
  readonly description: string
}

export function sendError(
  response: ServerResponse,
  issuer: string,
  { status, error, description }: ErrorResponse,
): void {
  sendJson(response, status, { error, error_description: description, error_uri: errorUri(issuer, error) })
}
