// Finds all places of a setting name, for hints about a misplaced setting.

import type { Form } from './value-schema.ts'

/** Of forms that settings are looked for in: finding all takes 1 ms, and a file may have many mistakes. */
const known = new WeakMap<Form, ReadonlyMap<string, readonly string[]>>()

/** Returns the paths of settings with a name, such as zones[].routes[].rewrite. */
export function placesOf(name: string, form: Form): readonly string[] {
  let places = known.get(form)
  if (places === undefined) known.set(form, (places = placesIn(form)))
  return places.get(name) ?? []
}

function placesIn(form: Form): ReadonlyMap<string, readonly string[]> {
  return Map.groupBy(new Set(pathsIn(form, '')), path => path.replace(/^.*\./, ''))
}

function pathsIn({ anyOf = [], items, properties = {}, additionalProperties }: Form, path: string): string[] {
  const own = Object.entries(properties).flatMap(([key, form]) => {
    const at = path === '' ? key : `${path}.${key}`
    return [at, ...pathsIn(form, at)]
  })
  return [
    ...anyOf.flatMap(one => pathsIn(one, path)),
    ...(items ? pathsIn(items, `${path}[]`) : []),
    ...own,
    ...(additionalProperties ? pathsIn(additionalProperties, `${path}.NAME`) : []),
  ]
}
