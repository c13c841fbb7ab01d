// The optional white space of fields (OWS, RFC 9110 section 5.6.3).

/** Without the spaces and tabs around it: `trim` takes away what other readers take for a part of it. */
export function withoutOws(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isOws(text.charCodeAt(from))) from++
  while (to > from && isOws(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

export function isOws(code: number): boolean {
  return code === 0x20 || code === 0x09
}
