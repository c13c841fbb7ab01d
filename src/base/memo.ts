// Functions that remember their results.

export function memoizeOnce<Value>(make: () => Value): () => Value {
  let cached: { readonly value: Value } | null = null
  return () => {
    cached ??= { value: make() }
    return cached.value
  }
}

/** Computes again only if the key differs from the last one. */
export function memoizeLast<Key extends string | number, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | null = null
  return key => {
    if (last === null || last.key !== key) last = { key, value: make(key) }
    return last.value
  }
}

/** Computes once for each source; the other arguments count only the first time. */
export function memoizeEach<Source extends object, Others extends unknown[], Value>(
  make: (source: Source, ...others: Others) => Value,
): (source: Source, ...others: Others) => Value {
  const cache = new WeakMap<Source, { readonly value: Value }>()
  return (source, ...others) => {
    let cached = cache.get(source)
    if (cached === undefined) cache.set(source, (cached = { value: make(source, ...others) }))
    return cached.value
  }
}
