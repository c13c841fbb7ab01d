// Copies of texts that outlive what they were cut from, and results remembered by them.

/** V8 keeps all of a long latin1 text alive for a slice of it. */
export function ownText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** Makes a function that remembers its results for the `max` latest texts of up to `maxLength` characters. */
export function memoizeTexts<Value extends NonNullable<unknown> | null>(
  { max, maxLength }: { readonly max: number; readonly maxLength: number },
  make: (text: string) => Value,
): (text: string) => Value {
  const cache = new Map<string, Value>()
  return text => {
    const cached = cache.get(text)
    if (cached !== undefined) return cached
    const value = make(text)
    if (text.length > maxLength) return value
    if (cache.size === max) cache.delete(cache.keys().next().value!)
    cache.set(ownText(text), value)
    return value
  }
}
