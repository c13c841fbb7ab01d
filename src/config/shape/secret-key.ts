// Parses keys as people write them: hex, base64 or base64url.

const min = 32

/**
 * Returns the bytes of a key, at least 32; null when the text is not a key. A text of only hex digits is hex,
 * since random base64 never looks like that.
 */
export function parseSecretKey(text: string): Buffer | null {
  const key = decode(text)
  return key !== null && key.length >= min ? key : null
}

function decode(text: string): Buffer | null {
  if (/^[0-9a-f]+$/i.test(text)) return text.length % 2 === 0 ? Buffer.from(text, 'hex') : null
  const [, digits = '', padding = ''] = /^([\w-]+|[A-Za-z0-9+/]+)(={0,2})$/.exec(text) ?? []
  const isWhole = padding === '' ? digits.length % 4 !== 1 : (digits.length + padding.length) % 4 === 0
  return isWhole ? Buffer.from(digits, 'base64') : null
}
