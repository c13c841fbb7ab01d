// Counts of what clients ask of MCP servers, by route, method and name.

import { Distribution, tallies } from './distribution.ts'

const mcpResults = ['answered', 'refused', 'failed', 'cancelled'] as const
export type McpResult = (typeof mcpResults)[number]

/** The label of names beyond the bound, or that the server is not known to have. */
export const otherName = 'other'
const mostNames = 100
const longestName = 128

export class McpMetrics {
  readonly zones = new Map<string, Map<string, McpRouteMetrics>>()

  /** Created on first use; names of zones and paths of routes come from the configuration. */
  route(zone: string, path: string): McpRouteMetrics {
    const routes = this.zones.get(zone) ?? new Map<string, McpRouteMetrics>()
    this.zones.set(zone, routes)
    const metrics = routes.get(path) ?? new McpRouteMetrics()
    routes.set(path, metrics)
    return metrics
  }
}

export class McpRouteMetrics {
  /** By method, and in it by name; empty where the method has none. */
  readonly methods = new Map<string, Map<string, McpCounts>>()
  readonly #names = new Set<string>()

  /** `isKnown`: a rule has the name, or the server has just responded to a call of it with a result. */
  labelOf(name: string, isKnown: boolean): string {
    if (this.#names.has(name)) return name
    if (!isKnown || this.#names.size >= mostNames || name.length > longestName) return otherName
    this.#names.add(name)
    return name
  }

  /** `method` and `name` are of a bounded set; `ms` is the time of a request that got to the server. */
  note(method: string, name: string, result: McpResult, ms: number): void {
    const counts = this.#countsOf(method, name)
    counts.results[result].inc()
    if (result !== 'refused') counts.duration.observe(ms)
  }

  #countsOf(method: string, name: string): McpCounts {
    const names = this.methods.get(method) ?? new Map<string, McpCounts>()
    this.methods.set(method, names)
    const counts = names.get(name) ?? new McpCounts()
    names.set(name, counts)
    return counts
  }
}

export class McpCounts {
  readonly results = tallies(mcpResults)
  readonly duration = new Distribution()
}
