// Results that are kept because the same is asked for again.

/** Makes a function that computes with the first call, and then knows: for what costs much to make and is not always asked for. */
export function memoizeOnce<Value>(make: () => Value): () => Value {
  let kept: { readonly value: Value } | null = null
  return () => {
    kept ??= { value: make() }
    return kept.value
  }
}

/** Makes a function that computes again only for a different key than the last. */
export function memoizeLast<Key extends string | number, Value>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  let last: { readonly key: Key; readonly value: Value } | null = null
  return key => {
    if (last === null || last.key !== key) last = { key, value: make(key) }
    return last.value
  }
}

/** Makes a function that works once for each source, and knows the result as long as the source lives; what else it takes counts for the first time alone. */
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
