// Finds the page of a path.

import { isId } from '../../base/ids/id.ts'
import type { Route } from './page-request.ts'

interface RouteMatch {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

interface Row {
  readonly route: Route
  readonly steps: readonly Step[]
}

/** A step of a pattern: a word, or the name of a value. */
interface Step {
  readonly word: string
  readonly name: string | null
}

export class RouteTable {
  readonly #rows: readonly Row[]

  constructor(routes: readonly Route[]) {
    this.#rows = routes.map(route => ({
      route,
      steps: route.path.split('/').map(word => ({ word, name: /^\{(\w+)\}$/.exec(word)?.[1] ?? null })),
    }))
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

function fit(pattern: readonly Step[], steps: readonly string[]): Record<string, string> | null {
  if (pattern.length !== steps.length) return null
  if (!pattern.every(({ word, name }, i) => name !== null || word === steps[i])) return null
  const params: Record<string, string> = {}
  for (const [i, { name }] of pattern.entries()) {
    if (name === null) continue
    const value = decode(steps[i]!)
    if (value === null || !isOfKind(name, value)) return null
    params[name] = value
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
