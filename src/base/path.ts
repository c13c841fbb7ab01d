// The normal form of a request path (RFC 3986 section 6.2.2), in which routes and rules are compared. Called by config for checks, by zones and by access.

/** Tells whether a path is surely in normal form already, and the same to every reader (no `;`, no backslash); looks no further than the query, and may say no to a path that is. */
export function isPlainPath(path: string): boolean {
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code > 0x3f) {
      if (code === 0x5c) return false
      continue
    }
    if (code === 0x3f) return true
    if (code === 0x25 || code === 0x3b) return false
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

/** Tells whether a prefix leads a path in normal form: it ends at a border of segments, the query, or the end. */
export function leads(prefix: string, path: string): boolean {
  const end = prefix.length
  const next = path.charCodeAt(end) // NaN at the end of the path and beyond
  const isBorder =
    end === path.length || next === 0x2f || next === 0x3f || prefix.charCodeAt(end - 1) === 0x2f
  return isBorder && path.startsWith(prefix)
}

function decodeUnreserved(triplet: string): string {
  const character = String.fromCharCode(Number.parseInt(triplet.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : triplet.toUpperCase()
}
