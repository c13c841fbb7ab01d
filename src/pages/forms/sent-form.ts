// Reads forms that only our own pages can have sent, and sends pages.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { sendStream } from '../../net/http/send-stream.ts'
import { type Form, type FormRules, isForm, readForm, signInForms } from './form.ts'
import { isFromOwnPage } from './csrf.ts'
import type { Page, PageResponse } from '../parts/layout.ts'
import { boundaryOf, readMultipart } from './multipart.ts'
import { messagePage } from '../views/message.ts'

interface Link {
  readonly href: string
  readonly text: string
}

export async function readSentForm(
  request: IncomingMessage,
  origin: string,
  link: Link,
  rules: FormRules = signInForms,
): Promise<Form | Page> {
  if (!isFromOwnPage(request.headers, origin)) return forged(link)
  const type = request.headers['content-type']
  const boundary = rules.hasFiles === true ? boundaryOf(type) : null
  if (boundary === null && !isForm(type)) return unreadable
  const body = await bodyOf(request, rules.maxBytes)
  if (body === null) return { ...unreadable, status: 413 }
  return (boundary === null ? readForm(body, rules) : readMultipart(body, boundary, rules)) ?? unreadable
}

export function forged(link: Link): Page {
  return messagePage({
    status: 403,
    title: 'Not sent from here',
    text: 'Another site sent this form, so nothing was done. If you did not expect this, close the page.',
    link,
  })
}

/** Sends a page, or a resource of one; resolves when a stream has ended, or its reader has left. */
export async function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body, stream }: PageResponse,
): Promise<void> {
  for (const [name, value] of headers)
    if (name === 'set-cookie') response.appendHeader(name, value)
    else response.setHeader(name, value)
  if (stream !== undefined && request.method !== 'HEAD') {
    response.writeHead(status)
    return sendStream(response, [body], stream)
  }
  const bytes = Buffer.from(body)
  response.writeHead(status, stream === undefined ? { 'content-length': bytes.length } : {})
  response.end(request.method === 'HEAD' ? undefined : bytes)
}

/** Null if too large; the rest is discarded, so that its sender gets to see the response. */
async function bodyOf(request: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const body = await collect(request, maxBytes)
  // Not before the iterator has ended: until then it would stay in the way of what flows.
  if (body === null) request.resume()
  return body
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

const unreadable = messagePage({
  status: 400,
  title: 'The form could not be read',
  text: 'Nothing was done. Go back and try again.',
})

export function outOfDate(link: Link): Page {
  return messagePage({
    status: 403,
    title: 'The form is out of date',
    text: 'Nothing was done. You signed in or out since the page was loaded, or your browser refuses cookies, without which nobody can sign in.',
    link,
  })
}
