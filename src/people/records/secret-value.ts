// A secret of a person or their browser: 256 random bits. Only the digest is ever stored.

import { hash, randomBytes } from 'node:crypto'

export function newValue(): { readonly value: string; readonly digest: string } {
  const value = randomBytes(32).toString('base64url')
  return { value, digest: digestOfValue(value) }
}

export function digestOfValue(value: string): string {
  return hash('sha256', value)
}

/** Whether a text has the form of a value: anything else is not looked up. */
export function isValue(text: string): boolean {
  return /^[\w-]{43}$/.test(text)
}

/** Likewise, of one with a tag behind it. */
export function isTaggedValue(text: string): boolean {
  return /^[\w-]{54}$/.test(text)
}
