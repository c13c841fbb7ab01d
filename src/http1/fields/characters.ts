// The bytes allowed in an HTTP/1.1 message (RFC 9110 section 5, RFC 9112 sections 2 to 7).

/** RFC 9110 section 5.6.2: method and field names. */
export const isTokenByte = byteTable(byte => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(byte)))

/** Field values and reason phrases: HTAB, SP, visible ASCII and obs-text. */
export const isFieldByte = byteTable(byte => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f))

/** 255 for all other bytes. */
export const hexValue = Uint8Array.from({ length: 256 }, (_, byte) => {
  const value = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(value) ? 255 : value
})

export const htab = 0x09
export const lf = 0x0a
export const cr = 0x0d
export const sp = 0x20
export const dquote = 0x22
export const colon = 0x3a
export const semicolon = 0x3b
export const backslash = 0x5c

export function byteTable(holds: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (holds(byte) ? 1 : 0))
}
