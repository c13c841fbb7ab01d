// The site that a Referer field names.

import { maxHostLength } from '../../net/address/host-names.ts'

const maxLength = 1024

/** Returns the host of a URL in lower case, without port and trailing dot; empty if it has none. */
export function refererHost(url: string): string {
  const referer = url.slice(0, maxLength)
  const scheme = referer.indexOf('://')
  if (scheme === -1) return ''
  let start = scheme + 3
  let end = start
  for (; ; end++) {
    // A URL that was cut within the host may have another one.
    if (end === referer.length && end < url.length) return ''
    if (end === referer.length) break
    const code = referer.charCodeAt(end)
    if (code === slash || code === question || code === hash || code === backslash) break
    if (code === at) start = end + 1
  }
  const port = referer.lastIndexOf(':', end - 1)
  if (port >= start && referer.charCodeAt(end - 1) !== bracket) end = port
  if (referer.charCodeAt(end - 1) === dot) end--
  if (end - start > maxHostLength) return ''
  return referer.slice(start, end).toLowerCase()
}

const hash = 0x23
const dot = 0x2e
const slash = 0x2f
const question = 0x3f
const at = 0x40
const backslash = 0x5c
const bracket = 0x5d
