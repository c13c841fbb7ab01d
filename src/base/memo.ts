// Functions that remember their results.

/**
 * Makes a function that computes at its first call and remembers the result: for what is expensive and not
 * always needed.
 */
export function memoizeOnce<Value>(make: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null
  return () => {
    kept ??= { value: make() }
    return kept.value
  }
}

/** Makes a function that computes again only if the key differs from the last one. */
export function memoizeLast<Key extends string | number, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | null = null
  return key => {
    if (last === null || last.key !== key) last = { key, value: make(key) }
    return last.value
  }
}

/**
 * Makes a function that computes once for each source, and remembers the result as long as the source lives;
 * its other arguments count only the first time.
 */
export function memoizeEach<Source extends object, Others extends unknown[], Value>(
  make: (source: Source, ...others: Others) => Value,
): (source: Source, ...others: Others) => Value {
  const known = new WeakMap<Source, { readonly value: Value }>()
  return (source, ...others) => {
    let kept = known.get(source)
    if (kept === undefined) known.set(source, (kept = { value: make(source, ...others) }))
    return kept.value
  }
}
