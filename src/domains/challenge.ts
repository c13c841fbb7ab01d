// What the owner of a client has to publish, and the effect of setting client_uri again on the verification.

import { randomBytes } from 'node:crypto'
import type { DomainVerification } from '../store/records/oauth-client.ts'
import { hostOf } from './host.ts'

export const challengePrefix = 'svc_oauth_client_publisher='

/** How long the owner has to publish the record, in ms. */
const verificationPeriod = 2 * 24 * 60 * 60_000
/** The shortest time between two DNS checks, in ms, however often the owner requests one. */
const pause = 5_000
/** The maximum difference between the clocks of processes, in ms. */
const slack = 60 * 60_000

export function challengeText({ code }: DomainVerification): string {
  return challengePrefix + code
}

/**
 * Returns the new verification when client_uri is set to a valid `clientUri`, or removed (null). The same
 * host is checked again now, or starts over if its two days have passed. Another host gets a code of its own,
 * or `host_frozen` if the old one was verified; that applies without a client_uri, too, so that removing it
 * first does not help.
 */
export function verificationFor(
  current: DomainVerification | null,
  clientUri: string | null,
  now: number,
): DomainVerification | null | 'host_frozen' {
  if (clientUri === null) return current?.status === 'verified' ? current : null
  const host = hostOf(clientUri)
  if (current === null) return begun(host, randomBytes(16).toString('hex'), now)
  if (current.host === host) return again(current, now)
  return current.status === 'verified' ? 'host_frozen' : begun(host, randomBytes(16).toString('hex'), now)
}

function begun(host: string, code: string, now: number): DomainVerification {
  return {
    host,
    code,
    status: 'pending',
    startedAt: now,
    deadline: now + verificationPeriod,
    nextCheckAt: now,
    checks: 0,
    lastAnswer: null,
    verifiedAt: null,
  }
}

function again(current: DomainVerification, now: number): DomainVerification {
  const { host, code, status, deadline, nextCheckAt, lastAnswer } = current
  if (status === 'verified') return current
  // After the clock was set back, stored times are too far ahead: then everything starts over.
  if (status === 'failed' || now >= deadline || deadline - now > verificationPeriod + slack)
    return { ...begun(host, code, now), lastAnswer }
  // Never later than before, and unchanged if it is already due: a check may be running.
  const soon = Math.max(now, Math.min(lastAnswer?.at ?? 0, now) + pause)
  return { ...current, nextCheckAt: Math.min(nextCheckAt ?? now, soon) }
}
