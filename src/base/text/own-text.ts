// Copies of texts that outlive what they were cut from.

/** V8 keeps all of a long latin1 text alive for a slice of it. */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
