// Splits DER (X.690) into its parts, as far as certificates and revocation lists need it.

export interface Part {
  readonly tag: number
  readonly content: Buffer
}

const maxLengthBytes = 4

/**
 * Splits DER into its values, up to the first that is cut off or has a length that is not DER (section 10.1).
 */
export function partsOf(der: Buffer): Part[] {
  const parts: Part[] = []
  for (let at = 0; at + 2 <= der.length; ) {
    const short = der[at + 1]!
    const bytes = short < 0x80 ? 0 : short - 0x80
    const from = at + 2 + bytes
    if (short === 0x80 || bytes > maxLengthBytes || from > der.length) break
    const to = from + (bytes === 0 ? short : der.readUIntBE(at + 2, bytes))
    if (to > der.length) break
    parts.push({ tag: der[at]!, content: der.subarray(from, to) })
    at = to
  }
  return parts
}
