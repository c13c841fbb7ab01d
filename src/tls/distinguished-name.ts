// Names in certificates, in ASCII without control characters, whatever their issuer let into them.

/** Turns what Node writes of a name, a line for each of its parts from the country on, into the form of RFC 4514, which begins with the last. */
export function distinguishedName(lines: string | undefined): string {
  if (lines === undefined || lines === '') return ''
  // A plus within a value is escaped, so this one is between two.
  const parts = lines.split('\n').map(line => line.replaceAll(' + ', '+'))
  return visible(parts.reverse().join(','))
}

/** Writes each byte of UTF-8 that is no printable ASCII as RFC 4514 section 2.4 does. */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x7e]+/g, part =>
    Buffer.from(part).toString('hex').toUpperCase().replace(/../g, '\\$&'),
  )
}
