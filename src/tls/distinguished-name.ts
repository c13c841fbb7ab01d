// Names in certificates, in ASCII without control characters, whatever their issuer allowed.

/**
 * Converts Node's text of a name, a line for each part, to the form of RFC 4514, which begins with the last.
 */
export function distinguishedName(lines: string | undefined): string {
  if (lines === undefined || lines === '') return ''
  // A plus within a value is escaped, so this one is between two.
  const parts = lines.split('\n').map(line => line.replaceAll(' + ', '+'))
  return visible(parts.reverse().join(','))
}

/** Escapes each byte of UTF-8 that is not printable ASCII as in RFC 4514 section 2.4. */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, part =>
    Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '\\$&'),
  )
}
