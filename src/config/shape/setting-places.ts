// Finds all places of a setting name, for hints about a misplaced setting.

import type { Form } from './value-schema.ts'

/** Returns the paths of settings with a name, such as zones[].routes[].rewrite. */
export function placesOf(name: string, form: Form): readonly string[] {
  return [...new Set(pathsIn(form, '').filter(path => path.replace(/^.*\./, '') === name))]
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
