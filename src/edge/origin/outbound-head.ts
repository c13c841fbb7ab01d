// The head of a request to an origin, independent of the HTTP version.

export interface OutboundHead {
  readonly method: string
  readonly target: string
  readonly authority: string
  /** With Content-Length if known, without the fields about the connection. */
  readonly lines: string
  readonly isChunked: boolean
  readonly wantsUpgrade: boolean
  /** RFC 9110 section 10.1.4. */
  readonly takesTrailers: boolean
}

/** With the empty line. */
export function headText(head: OutboundHead): string {
  const upgrade = head.wantsUpgrade ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
  const framing = head.isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
  return `${head.method} ${head.target} HTTP/1.1\r\nHost: ${head.authority}\r\n${upgrade}${framing}${head.lines}\r\n`
}
