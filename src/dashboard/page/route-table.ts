// Finds the page of a path.

import { isId } from '../../base/ids/id.ts'
import type { Route } from './page-request.ts'

interface RouteMatch {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

interface Row {
  readonly route: Route
  readonly steps: readonly string[]
}

export class RouteTable {
  readonly #rows: readonly Row[]

  constructor(routes: readonly Route[]) {
    this.#rows = routes.map(route => ({ route, steps: route.path.split('/') }))
  }

  /** Returns the first matching route, with the decoded values of its `{name}` steps; null for none. */
  find(path: string): RouteMatch | null {
    const steps = path.split('/')
    for (const row of this.#rows) {
      const params = fit(row.steps, steps)
      if (params !== null) return { route: row.route, params }
    }
    return null
  }
}

function fit(pattern: readonly string[], steps: readonly string[]): Record<string, string> | null {
  if (pattern.length !== steps.length) return null
  const params: Record<string, string> = {}
  for (const [i, step] of pattern.entries()) {
    const name = /^\{(\w+)\}$/.exec(step)?.[1]
    const value = name === undefined ? null : decode(steps[i]!)
    if (name === undefined ? step !== steps[i] : value === null || !isOfKind(name, value)) return null
    if (name !== undefined) params[name] = value!
  }
  return params
}

/**
 * The form of step values that nobody names: in the place of such a value, a word could be one of the paths
 * of the API beside it.
 */
const kinds: Readonly<Record<string, (value: string) => boolean>> = {
  client: isId,
  errorrule: isId,
  grant: isId,
  log: value => /^[0-9a-f]{16}$/.test(value),
  member: isId,
  modelroute: isId,
  providerkey: isId,
  rule: isId,
  token: isId,
  version: isId,
}

function isOfKind(name: string, value: string): boolean {
  return kinds[name]?.(value) ?? true
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text) || null
  } catch {
    return null
  }
}
