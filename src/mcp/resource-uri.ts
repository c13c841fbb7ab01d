// The URI of a resource in the spellings that servers take for the same.

/**
 * Lists the URI as it is and, if that differs, as URL parsers write it: `FILE:///a/../b` is `file:///b` to
 * servers that parse it before they look for the resource.
 */
export function spellingsOf(uri: string): readonly string[] {
  const parsed = URL.parse(uri)?.href ?? uri
  return parsed === uri ? [uri] : [uri, parsed]
}
