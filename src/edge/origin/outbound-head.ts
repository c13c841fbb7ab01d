// The head of a request on its way to an origin, whatever the version of HTTP that takes it there.

/** All but what is about the connection. */
export interface OutboundHead {
  readonly method: string
  readonly target: string
  /** The host that is asked for, with its port if that is not the default. */
  readonly authority: string
  /** Field lines, `Name: value` and CRLF each, the length of the body among them where that is known. */
  readonly lines: string
  /** Whether a body of unknown length follows. */
  readonly isChunked: boolean
  readonly wantsUpgrade: boolean
  /** Whether the client takes trailers, where the version has a way to say so (RFC 9110 section 10.1.4). */
  readonly takesTrailers: boolean
}

/** Writes the head for HTTP/1.1, empty line included. */
export function headText({
  method,
  target,
  authority,
  lines,
  isChunked,
  wantsUpgrade,
}: OutboundHead): string {
  const upgrade = wantsUpgrade ? 'Connection: Upgrade\r\nUpgrade: websocket\r\n' : ''
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : ''
  return `${method} ${target} HTTP/1.1\r\nHost: ${authority}\r\n${upgrade}${framing}${lines}\r\n`
}
