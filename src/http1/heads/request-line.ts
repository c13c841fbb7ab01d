// The request line (RFC 9112 section 3), with the target brought into origin form.

import { isTokenByte, sp } from '../fields/characters.ts'
import { isTargetByte } from './target-bytes.ts'

const maxMethod = 64

/** Each is the name of an error. */
export type HeadFault =
  | 'bad_request'
  | 'uri_too_long'
  | 'http_headers_exceed_limit'
  | 'http_version_not_supported'
  | 'not_implemented'
  | 'host_invalid'

export interface RequestLine {
  method: string
  target: string
  minor: number
  version: string
  host: string | null
  fault: HeadFault | null
}

/** Reads the line into the head (RFC 9112 section 3); returns the offset after it, or -1. */
export function readRequestLine(bytes: Buffer, text: string, start: number, head: RequestLine): number {
  let at = start
  while (isTokenByte[bytes[at]!] === 1) at++
  if (at === start || at - start > maxMethod || bytes[at] !== sp) return -1
  head.method = text.slice(0, at - start)
  const targetStart = ++at
  while (isTargetByte[bytes[at]!] === 1) at++
  if (at === targetStart || bytes[at] !== sp) return -1
  head.target = text.slice(targetStart - start, at - start)
  return readVersion(text, at + 1 - start, head) ? at + ' HTTP/1.1\r\n'.length : -1
}

/** Brings the target into origin form; an absolute one must agree with Host (RFC 9112 section 3.2). */
export function settleTarget(head: RequestLine): HeadFault | null {
  const { target, method } = head
  if (target.charCodeAt(0) === 0x2f) return null
  if (method === 'CONNECT') return null
  if (target === '*') return method === 'OPTIONS' ? null : 'bad_request'
  const absolute = /^https?:\/\/([^/?]+)(.*)$/is.exec(target)
  if (absolute === null) return 'bad_request'
  const authority = absolute[1]!
  if (head.host !== null && head.host.toLowerCase() !== authority.toLowerCase()) return 'bad_request'
  head.host = authority
  const path = absolute[2]!
  head.target = path.startsWith('/') ? path : `/${path}`
  return null
}

function readVersion(text: string, at: number, head: RequestLine): boolean {
  if (text.startsWith('HTTP/1.1\r\n', at)) return true
  if (text.startsWith('HTTP/1.0\r\n', at)) {
    head.minor = 0
    head.version = '1.0'
    return true
  }
  const major = /^HTTP\/([0-9])\.[0-9]\r\n/.exec(text.slice(at, at + 10))?.[1]
  // Later minor versions are read as 1.1 (RFC 9110 section 2.5).
  if (major === '1') return true
  if (major !== undefined) head.fault = 'http_version_not_supported'
  return false
}
