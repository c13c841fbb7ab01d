// Texts in PEM (RFC 7468), which may hold several blocks and words between them.

/** Lists the blocks of a text, each with its first and last line. */
export function pemBlocks(text: string): readonly string[] {
  return text.match(/-----BEGIN [^-]+-----[^-]*-----END [^-]+-----/g) ?? []
}
