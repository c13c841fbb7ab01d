// From the names of settings to those of the configuration.

type CamelCase<K> = K extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : K

/** Returns settings under their names in camel case: `keep_alive` becomes `keepAlive`. */
export function camel<T extends object>(settings: T): { readonly [K in keyof T as CamelCase<K>]: T[K] } {
  const renamed = Object.entries(settings).map(([key, value]) => [
    key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    value,
  ])
  return Object.fromEntries(renamed)
}
