// The state of a zone's pools in all processes: a request meets only one, so the worst counts.

import type { OriginState, PoolState } from '../../admin/facts/zone-facts.ts'
import type { ZoneConfig } from '../../config/model/config.ts'
import type { OriginInProcess, PoolState as PoolInProcess } from '../../edge/origin/pools.ts'

export function poolStatesOf(
  { routes }: ZoneConfig,
  processes: readonly (readonly PoolInProcess[])[],
): readonly PoolState[] {
  const names = new Set(routes.flatMap(({ pool }) => pool?.name ?? []))
  return [...names].map(name => ({
    pool: name,
    routes: routes.filter(({ pool }) => pool?.name === name).map(({ path }) => path),
    origins: joined(processes.flatMap(pools => pools.filter(({ pool }) => pool === name))),
  }))
}

function joined(pools: readonly PoolInProcess[]): readonly OriginState[] {
  const [first, ...others] = pools
  if (first === undefined) return []
  return first.origins
    .map((origin, i) => others.flatMap(({ origins }) => origins[i] ?? []).reduce(join, origin))
    .map(stateOf)
}

function join(a: OriginInProcess, b: OriginInProcess): OriginInProcess {
  const worse = severity[b.state] > severity[a.state] ? b : a
  return {
    ...worse,
    since: sinceOf(a, b),
    ejections: a.ejections + b.ejections,
    consecutive_failures: Math.max(a.consecutive_failures, b.consecutive_failures),
    outstanding: a.outstanding + b.outstanding,
    connections: a.connections + b.connections,
    http2_connections: a.http2_connections + b.http2_connections,
    queued: a.queued + b.queued,
  }
}

/** Healthy or unchecked lasts since the latest of the processes. */
function sinceOf(a: OriginInProcess, b: OriginInProcess): string {
  if (a.state !== b.state) return severity[b.state] > severity[a.state] ? b.since : a.since
  const [first, last] = [a.since, b.since].toSorted()
  return (a.state === 'healthy' || a.state === 'unchecked' ? last : first)!
}

const severity = { unchecked: 0, healthy: 1, trial: 2, failing: 3, ejected: 4, down: 5 } as const

const receives: ReadonlySet<OriginState['state']> = new Set(['unchecked', 'healthy', 'failing'])

function stateOf({ slow_start, ...member }: OriginInProcess): OriginState {
  return { ...member, share: receives.has(member.state) ? (slow_start ?? 1) : 0 }
}
