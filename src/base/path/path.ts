// The normal form of a request path (RFC 3986 section 6.2.2), in which routes and rules are compared.

/** May be false for a normal path. Stops at the query. */
export function isPlainPath(path: string): boolean {
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code > 0x3f) {
      if (code === 0x5c || code > 0x7e) return false
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
 * Without the query: needless encoding decoded, repeated slashes joined, dot segments resolved. `%2F`, `%5C`
 * and `%3B` stay: they are data within a segment.
 */
export function normalPath(target: string): string {
  return withoutDots(withoutEmpty(withPlainDots(decodedPath(target))))
}

export function withoutQuery(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? target : target.slice(0, query)
}

/**
 * One spelling for each byte, except for dots: visible ASCII as it is but for `%/;?#` and backslash, all
 * others as upper-case triplets.
 */
export function decodedPath(target: string): string {
  const path = withoutQuery(target)
  return encoded.test(path) ? respelled(path) : path
}

export function withPlainDots(path: string): string {
  return path.includes('%2E') ? path.replaceAll('%2E', '.') : path
}

export function withoutEmpty(path: string): string {
  return path.includes('//') ? path.replace(/\/{2,}/g, '/') : path
}

/** RFC 3986 section 5.2.4. */
export function withoutDots(path: string): string {
  if (!hasDotSegment(path)) return path
  const segments = path.split('/')
  const resolved: string[] = [segments[0]!]
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i]!
    if (segment === '..') {
      if (resolved.length > 1) resolved.pop()
    } else if (segment !== '.') resolved.push(segment)
  }
  const last = segments.at(-1)!
  if (last === '.' || last === '..') resolved.push('')
  return resolved.join('/')
}

export function hasDotSegment(path: string): boolean {
  return dotSegment.test(path)
}

/** After the prefix comes a segment boundary, the query, or the end. */
export function leads(prefix: string, path: string): boolean {
  return isBorder(path, prefix.length) && path.startsWith(prefix)
}

/** Whether a slash comes at the offset or just before, or the query, or the end. */
export function isBorder(path: string, at: number): boolean {
  const next = path.charCodeAt(at) // NaN at the end of the path and beyond
  return at === path.length || next === 0x2f || next === 0x3f || path.charCodeAt(at - 1) === 0x2f
}

const encoded = /[%\x7f-\xff]/
const dotSegment = /\/\.{1,2}(?:\/|$)/

/** Marks the characters that mean the same encoded or not; readers disagree on dots and semicolons. */
const isDecoded = Uint8Array.from({ length: 256 }, (_, code) =>
  /[!-~]/.test(String.fromCharCode(code)) && !/[%/;?#\\.]/.test(String.fromCharCode(code)) ? 1 : 0,
)
const hexValue = Int8Array.from({ length: 256 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(value) ? -1 : value
})
const hexDigit = Buffer.from('0123456789ABCDEF')

/** Works on bytes, since concatenating thousands of pieces takes ten times as long. */
function respelled(path: string): string {
  const bytes = Buffer.allocUnsafe(3 * path.length)
  let end = 0
  for (let i = 0; i < path.length; i++) {
    const code = path.charCodeAt(i)
    if (code === 0x25) {
      const value = tripletAt(path, i)
      if (value !== -1) i += 2
      if (isDecoded[value] === 1) bytes[end++] = value
      else end = writeTriplet(bytes, end, value === -1 ? code : value)
    } else if (code > 0x7e) end = writeTriplet(bytes, end, code & 0xff)
    else bytes[end++] = code
  }
  return bytes.toString('latin1', 0, end)
}

/** -1 for a percent sign that begins none: it is data, whatever is decoded behind it, as in `%6%31`. */
function tripletAt(path: string, at: number): number {
  if (at + 2 >= path.length) return -1
  const high = hexValue[path.charCodeAt(at + 1) & 0xff]!
  const low = hexValue[path.charCodeAt(at + 2) & 0xff]!
  return high < 0 || low < 0 ? -1 : 16 * high + low
}

function writeTriplet(bytes: Buffer, at: number, value: number): number {
  bytes[at] = 0x25
  bytes[at + 1] = hexDigit[value >> 4]!
  bytes[at + 2] = hexDigit[value & 15]!
  return at + 3
}
