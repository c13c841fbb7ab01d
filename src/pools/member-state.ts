// The state of a pool member, in the terms of the management API, as data that can be sent between processes.
// Made for the edge's pools.

import type { CheckResult, HealthState } from './health.ts'
import type { Member, MemberTarget } from './pool.ts'

export interface MemberState {
  readonly url: string
  readonly weight: number
  readonly state: HealthState
  /** RFC 3339: when it entered this state. */
  readonly since: string
  readonly ejections: number
  readonly consecutive_failures: number
  /** RFC 3339; null while it is not ejected. */
  readonly ejected_until: string | null
  /** Null if there are no active checks, or none has ended yet. */
  readonly check: CheckState | null
  readonly outstanding: number
  /** The share of its weight that counts during its slow start; null outside of it. */
  readonly slow_start: number | null
}

/** Returns the state of the member with this URL. */
export function memberState(
  url: string,
  { weight, health, outstanding, share }: Member<MemberTarget>,
): MemberState {
  const { state, since, ejections, failures, ejectedUntil, check } = health
  return {
    url,
    weight,
    state,
    since: new Date(since).toISOString(),
    ejections,
    consecutive_failures: failures,
    ejected_until: ejectedUntil === null ? null : new Date(ejectedUntil).toISOString(),
    check: check && checkState(check),
    outstanding,
    slow_start: share > 0 && share < 1 ? share : null,
  }
}

interface CheckState {
  readonly is_up: boolean
  readonly since: string
  readonly next_check_at: string
  readonly last_check_at: string
  /** Ms. */
  readonly last_duration: number
  readonly last_status: number | null
  readonly last_error: string | null
}

function checkState({
  isUp,
  since,
  nextCheckAt,
  lastCheckAt,
  lastDuration,
  lastStatus,
  lastError,
}: CheckResult): CheckState {
  return {
    is_up: isUp,
    since: new Date(since).toISOString(),
    next_check_at: new Date(nextCheckAt).toISOString(),
    last_check_at: new Date(lastCheckAt).toISOString(),
    last_duration: lastDuration,
    last_status: lastStatus,
    last_error: lastError,
  }
}
