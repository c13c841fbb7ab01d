// The normal form of a request path (RFC 3986 section 6.2.2), in which routes are compared. Called by config for checks and by zones on odd paths.

/** Tells whether a path is surely in normal form already; looks no further than the query, and may say no to a path that is. */
export function isPlainPath(path: string): boolean {
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code === 0x3f) return true
    if (code === 0x25) return false
    if (code === 0x2f) {
      const next = path.charCodeAt(i + 1)
      if (next === 0x2f || next === 0x2e) return false
    }
  }
  return true
}

/**
 * Gives the path as a reader sees it who decodes what needs no encoding, resolves dot segments and joins doubled slashes; without the query.
 * `%2F` stays: it is data within a segment.
 */
export function normalPath(path: string): string {
  const query = path.indexOf('?')
  const decoded = (query === -1 ? path : path.slice(0, query)).replace(/%[\da-f]{2}/gi, decodeUnreserved)
  if (!decoded.startsWith('/')) return decoded
  const segments = decoded.slice(1).split('/')
  const kept: string[] = []
  for (const segment of segments) {
    if (segment === '..') kept.pop()
    else if (segment !== '' && segment !== '.') kept.push(segment)
  }
  const isOpen = kept.length > 0 && ['', '.', '..'].includes(segments.at(-1)!)
  return `/${kept.join('/')}${isOpen ? '/' : ''}`
}

function decodeUnreserved(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : triplet.toUpperCase()
}
