// Counts for the dashboard what a request asked of an MCP server, who sent it, and why it was refused.

import { type McpCount, mcpCount, mcpScope } from '../../activity/tally-scopes.ts'
import type { TallyScope } from '../../activity/tally-book.ts'
import type { McpResult } from '../../metrics/counters/mcp-metrics.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { EdgeRoute } from '../snapshot/snapshot.ts'

/** The most callers a route, of this process and hour, that are counted each by themselves. */
const mostCallers = 200
const longestSubject = 256
const otherCallers = 'other'
const hour = 3_600_000

/** Returns those of the route of a request. */
export function mcpTalliesOf({ route, zone, plane }: Exchange): McpTallies {
  let own = byRoute.get(route!)
  if (own === undefined) {
    const scope = plane.tallies.scope(mcpScope(zone!.config.name, route!.config.path))
    byRoute.set(route!, (own = new McpTallies(scope)))
  }
  return own
}

/** A reload compiles routes anew. */
const byRoute = new WeakMap<EdgeRoute, McpTallies>()

class McpTallies {
  readonly #scope: TallyScope
  readonly #callers = new Set<string>()
  #hour = 0

  constructor(scope: TallyScope) {
    this.#scope = scope
  }

  /** `method` and `name` are of a bounded set. */
  message(method: string, name: string, result: McpResult, ms: number): void {
    this.#counter('message', method, name, result).inc()
    // A fraction cannot be added up in every store.
    const whole = Math.round(ms)
    if (result !== 'refused' && whole > 0) this.#counter('time', method, name).add(whole)
  }

  refusal(method: string, name: string, reason: string): void {
    this.#counter('refusal', method, name, reason).inc()
  }

  /** `now` is in ms since the epoch. */
  caller(subject: string, result: McpResult, now: number): void {
    this.#counter('caller', this.#callerOf(subject, now), result).inc()
  }

  #callerOf(subject: string, now: number): string {
    const at = Math.floor(now / hour)
    if (at !== this.#hour) this.#callers.clear()
    this.#hour = at
    if (this.#callers.has(subject)) return subject
    if (this.#callers.size >= mostCallers || subject.length > longestSubject) return otherCallers
    this.#callers.add(subject)
    return subject
  }

  #counter(...count: McpCount) {
    return this.#scope.counter('mcp', mcpCount(count))
  }
}
