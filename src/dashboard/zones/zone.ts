// A zone in the form of the management API, and in words.

import { formatDuration } from '../../base/text/quantity.ts'
import { grouped } from '../parts/numbers.ts'

export interface Zone {
  readonly name: string
  readonly account: { readonly id: string }
  readonly paused: boolean
  readonly hosts: readonly string[]
  readonly is_default: boolean
  readonly routes: readonly ZoneRoute[]
  readonly pools: readonly ZonePool[]
  readonly access: {
    readonly file_rules: number
    readonly default: 'allow' | 'deny'
    /** Times in ms. */
    readonly ban: { readonly refusals: number; readonly within: number; readonly lasts: number } | null
    readonly lists: readonly string[]
    readonly has_geo: boolean
  }
  readonly rate_limits: readonly string[]
  readonly quota: { readonly day: number | null; readonly month: number | null }
  readonly errors: { readonly file_rules: number; readonly file_pages: readonly string[] }
}

export interface ZoneRoute {
  readonly path: string
  readonly pool: string | null
  readonly is_authorization_server: boolean
  readonly host: string
  /** Bytes. */
  readonly body_limit: number
  readonly redirects: number
  /** In ms; 0 is off. */
  readonly timeouts: Readonly<Record<string, number>>
  readonly rate_limits: readonly string[]
  readonly rewrite: {
    readonly path: string | null
    readonly request_headers: readonly string[]
    readonly response_headers: readonly string[]
  } | null
}

/** Times in ms. */
export interface ZonePool {
  readonly name: string
  readonly origins: number
  readonly balance: 'round_robin' | 'least_outstanding' | 'hash'
  readonly balance_header: string | null
  readonly retries: { readonly most: number; readonly budget: number }
  readonly ejection: { readonly failures: number; readonly base: number; readonly longest: number } | null
  readonly check: {
    readonly path: string
    readonly interval: number
    readonly timeout: number
    readonly healthy: number
    readonly unhealthy: number
  } | null
  readonly slow_start: number
}

/** Returns the load balancing of a pool, in words. */
export function balanceInWords({ balance, balance_header: header }: ZonePool): string {
  switch (balance) {
    case 'round_robin':
      return 'in turn, by weight'
    case 'least_outstanding':
      return 'to the origin with the fewest requests under way'
    case 'hash':
      return header === null ? 'by the address of the client' : `by the header ${header}`
  }
}

export function ejectionInWords({ ejection }: ZonePool): string {
  if (ejection === null) return 'off'
  const { failures, base, longest } = ejection
  return `after ${count(failures, 'failure')} in a row, for ${formatDuration(base)} up to ${formatDuration(longest)}`
}

export function checkInWords({ check }: ZonePool): string {
  if (check === null) return 'off'
  const { path, interval, timeout, healthy, unhealthy } = check
  return `${path} every ${formatDuration(interval)}, for at most ${formatDuration(timeout)}; down after ${count(unhealthy, 'failure')}, up after ${count(healthy, 'success', 'successes')}`
}

export function timeoutsInWords({ timeouts }: Pick<ZoneRoute, 'timeouts'>): string {
  return Object.entries(timeouts)
    .map(([name, ms]) => `${name} ${formatDuration(ms)}`)
    .join(', ')
}

/** Writes a count with its noun. */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${grouped(n)} ${n === 1 ? one : many}`
}
