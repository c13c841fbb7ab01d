// What a verified token claims, as values of request fields.

export type Claims = Readonly<Record<string, unknown>>

const maxLength = 4096

/**
 * Returns the value of a claim for a field: a text, number or truth, or several of them, separated by
 * commas. Null if it is missing or readers could differ: on control characters, others than those of ASCII,
 * blanks at an end, or commas within a list.
 */
export function fieldValueOf(claims: Claims, name: string): string | null {
  const claim = Object.hasOwn(claims, name) ? claims[name] : undefined
  if (!Array.isArray(claim)) return textOf(claim)
  const texts = claim.map(textOf)
  if (texts.length === 0 || texts.some(text => text === null || text.includes(','))) return null
  const value = texts.join(',')
  return value.length > maxLength ? null : value
}

function textOf(claim: unknown): string | null {
  const isPlain = typeof claim === 'string' || typeof claim === 'number' || typeof claim === 'boolean'
  if (!isPlain) return null
  const text = String(claim)
  return text.length <= maxLength && /^[!-~](?:[ -~]*[!-~])?$/.test(text) ? text : null
}

/** Returns the scopes that a token has: those of `scope` (RFC 9068 section 2.2.3), or of `scp`. */
export function scopesIn(claims: Claims): readonly string[] {
  const claim = Object.hasOwn(claims, 'scope') ? claims.scope : Object.hasOwn(claims, 'scp') ? claims.scp : []
  if (typeof claim === 'string') return claim.split(' ')
  return Array.isArray(claim) ? claim.filter(scope => typeof scope === 'string') : []
}
