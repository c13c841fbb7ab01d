// Reasoning of one API inside that of another, so that its provider gets it back as it was: nothing is
// stored.

import { type JsonObject, readObject, textIn } from './json.ts'

/** `tag` names the provider that created the reasoning. */
export function pack(tag: string, reasoning: JsonObject): string {
  return tag + Buffer.from(JSON.stringify(reasoning)).toString('base64url')
}

/** Null for reasoning of another provider, and for any text that is not packed. */
export function unpack(tag: string, packed: unknown): JsonObject | null {
  const text = textIn(packed)
  if (tag === '' || !text.startsWith(tag)) return null
  return readObject(Buffer.from(text.slice(tag.length), 'base64url').toString())
}
