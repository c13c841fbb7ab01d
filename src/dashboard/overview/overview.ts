// The state of an account, as in the management API: a member is absent if the person may not see it.

/** Requests by status class, such as `5xx`. */
type Classes = Readonly<Record<string, number>>

interface RequestWindow {
  readonly at: string
  readonly zones: readonly { readonly zone: string; readonly classes: Classes }[]
}

export interface CallSums {
  readonly count: number
  readonly errors: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly cost: number
  readonly count_without_cost: number
  readonly count_cached: number
  readonly saved_tokens_in: number
  readonly saved_tokens_out: number
  readonly saved_cost: number
}

export interface Overview {
  readonly at: string
  readonly requests?: {
    readonly since: string
    readonly minutes: readonly RequestWindow[]
    readonly hours: readonly RequestWindow[]
  }
  readonly origins?: readonly {
    readonly zone: string
    readonly unchecked: number
    readonly healthy: number
    readonly failing: number
    readonly ejected: number
    readonly trial: number
    readonly down: number
  }[]
  readonly ai?: {
    readonly is_complete: boolean
    /** Of the list prices, as 2026-01-31. */
    readonly price_date: string | null
    readonly hours: readonly ({ readonly at: string } & CallSums)[]
    readonly gateways: readonly ({ readonly gateway_id: string } & CallSums)[]
  }
  readonly store?: {
    readonly backend: 'sqlite' | 'redis'
    readonly location: string
    readonly is_reachable: boolean
    readonly refuses_writes: string | null
    readonly is_durable: boolean
    readonly losses: readonly string[]
    readonly size: number | null
    readonly queued_log_entries: number
  }
  /** Absent if it is off. */
  readonly log_export?: {
    readonly waiting: {
      readonly entries: number
      readonly bytes: number
      readonly oldest_at: string | null
    } | null
    readonly failure: {
      readonly since: string
      readonly message: string
      readonly needs_change: boolean
    } | null
  }
  readonly process?: { readonly version: string; readonly started_at: string; readonly workers: number }
}

export interface Attention {
  /** Null while the first search is running. */
  readonly at: string | null
  readonly counts: Readonly<Record<string, number>>
  readonly items: readonly Finding[]
}

export interface Finding {
  readonly kind: string
  readonly severity: 'critical' | 'warning' | 'info'
  readonly message: string
  readonly resource: {
    readonly type: 'oauth_client' | 'gateway' | 'token' | 'member' | 'zone' | 'provider'
    readonly id: string
    readonly name: string
  } | null
}

export interface FrequentError {
  readonly zone: string | null
  readonly gateway_id: string | null
  readonly code: number
  readonly title: string | null
  readonly count: number
  readonly last_at: string
}

interface Traffic {
  readonly zone: string
  readonly requests: number
  readonly clientErrors: number
  readonly serverErrors: number
}

/** Sums up the requests of each zone, busiest first. */
export function trafficOf(windows: readonly RequestWindow[]): readonly Traffic[] {
  const byZone = Map.groupBy(
    windows.flatMap(({ zones }) => zones),
    ({ zone }) => zone,
  )
  return Array.from(byZone, ([zone, parts]) => {
    const count = (name: string) => parts.reduce((sum, { classes }) => sum + (classes[name] ?? 0), 0)
    const requests = parts.reduce((sum, { classes }) => sum + totalOf(classes), 0)
    return { zone, requests, clientErrors: count('4xx'), serverErrors: count('5xx') }
  }).sort((a, b) => b.requests - a.requests)
}

export function sumOf({ zones }: RequestWindow) {
  const count = (name: string) => zones.reduce((sum, { classes }) => sum + (classes[name] ?? 0), 0)
  const requests = zones.reduce((sum, { classes }) => sum + totalOf(classes), 0)
  const successes = count('1xx') + count('2xx') + count('3xx')
  return {
    requests,
    successes,
    clientErrors: count('4xx'),
    serverErrors: count('5xx'),
    previews: count('preview'),
  }
}

/** Sums up the requests without previews of errors, of which anybody may cause any number. */
function totalOf({ preview: _, ...classes }: Classes): number {
  return Object.values(classes).reduce((sum, count) => sum + count, 0)
}
