// One DNS check for a verification: whether its result still counts, and what it changes.

import type { DnsAnswer, DomainVerification, OAuthClient } from '../store/records/oauth-client.ts'
import { nextCheckAt } from './schedule.ts'

/**
 * Whether a result for `checked` counts for the stored verification: a proof while host and code are the
 * same, any other result only while this attempt is the one that is due.
 */
export function counts(
  stored: DomainVerification | null,
  checked: DomainVerification,
  answer: DnsAnswer,
): boolean {
  if (stored === null || stored.nextCheckAt === null) return false
  if (stored.host !== checked.host || stored.code !== checked.code) return false
  return answer.outcome === 'found' || stored.nextCheckAt === checked.nextCheckAt
}

/**
 * Returns the client after a result that counts. Only the end of a verification is a revision: until then,
 * the ETag that its owner just received stays valid.
 */
export function afterAnswer(
  client: OAuthClient,
  stored: DomainVerification,
  answer: DnsAnswer,
  now: number,
): OAuthClient {
  const checks = stored.checks + 1
  const verification = { ...stored, ...verdict(stored, answer, now), checks, lastAnswer: answer }
  if (verification.status === 'in_progress') return { ...client, verification }
  return { ...client, verification, revision: client.revision + 1, updatedAt: now }
}

function verdict(
  { startedAt, deadline, nextCheckAt: dueAt }: DomainVerification,
  { outcome }: DnsAnswer,
  now: number,
): Pick<DomainVerification, 'status' | 'nextCheckAt' | 'verifiedAt'> {
  if (outcome === 'found') return { status: 'verified', nextCheckAt: null, verifiedAt: now }
  // The store says what is due: if its clock is ahead, each next check would be due at once.
  const at = Math.max(now, dueAt!)
  if (at >= deadline) return { status: 'failed', nextCheckAt: null, verifiedAt: null }
  return { status: 'in_progress', nextCheckAt: nextCheckAt(startedAt, deadline, at), verifiedAt: null }
}
