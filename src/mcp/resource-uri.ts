// The URI of a resource in the spellings that servers take for the same.

import { unescape as withoutEscapes } from 'node:querystring'

/**
 * Lists the URI as it is and, where that differs, as URL parsers write it, and without escapes: servers may
 * take `FILE:///a/../b` and `file:///%62` for `file:///b`.
 */
export function spellingsOf(uri: string): readonly string[] {
  const parsed = parsedOf(uri)
  if (parsed === uri && !uri.includes('%')) return [uri]
  const plain = withoutEscapes(parsed)
  return [...new Set([uri, parsed, plain, parsedOf(plain)])]
}

function parsedOf(uri: string): string {
  return URL.parse(uri)?.href ?? uri
}
