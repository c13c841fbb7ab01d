// Copies of texts that outlive what they were cut from.

/** Copies a latin1 text: V8 keeps all of a long text alive for a slice of it. */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
