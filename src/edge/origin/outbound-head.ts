// The head of a request to an origin, independent of the HTTP version.

import { ownText } from '../../base/text/own-text.ts'

export interface OutboundHead {
  readonly request: OutboundRequest
  readonly ray: string
}

interface Parts {
  readonly method: string
  readonly target: string
  readonly authority: string
  /** With Content-Length if known, without the fields about the connection and the ray. */
  readonly lines: string
  readonly isChunked: boolean
  readonly wantsUpgrade: boolean
  /** RFC 9110 section 10.1.4. */
  readonly takesTrailers: boolean
}

/** What repeated requests have in common. */
export class OutboundRequest {
  readonly parts: Parts
  #start: string | null = null
  #isFlat = false

  constructor(parts: Parts) {
    this.parts = parts
  }

  /** HTTP/1.1, up to the ray. */
  get start(): string {
    if (this.#start === null) this.#start = startOf(this.parts)
    else if (!this.#isFlat) {
      // V8 would copy the pieces of a concatenation one by one for each request.
      this.#start = ownText(this.#start)
      this.#isFlat = true
    }
    return this.#start
  }
}

/** With the empty line. */
export function headText({ request, ray }: OutboundHead): string {
  return `${request.start}svc-ray: ${ray}\r\n\r\n`
}

/** Without the fields about the connection. */
export function headLines({ request: { parts }, ray }: OutboundHead): string {
  return `${parts.lines}svc-ray: ${ray}\r\n`
}

function startOf({ method, target, authority, lines, isChunked, wantsUpgrade }: Parts): string {
  const upgrade = wantsUpgrade ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
  return `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${upgrade}${framing}${lines}`
}
