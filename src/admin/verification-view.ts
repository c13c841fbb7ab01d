// How the management API shows the proof that a host is owned: what to publish, what DNS said last, and what to do about it. Called by client-view.ts.

import { challengePrefix, challengeText } from '../domains/challenge.ts'
import type { DnsAnswer, DnsOutcome, DomainVerification } from '../store/records.ts'
import { isoTime } from './kept.ts'

/** Shows a verification: `status` and `text` as published clients know them, and why it is not verified yet. */
export function viewVerification(verification: DomainVerification) {
  const { status, host, lastAnswer, nextCheckAt, deadline, verifiedAt } = verification
  return {
    status,
    text: challengeText(verification),
    host,
    ...(lastAnswer && { last_answer: viewAnswer(lastAnswer, verification) }),
    ...(nextCheckAt !== null && { next_check: isoTime(nextCheckAt) }),
    deadline: isoTime(deadline),
    ...(verifiedAt !== null && { verified_at: isoTime(verifiedAt) }),
  }
}

function viewAnswer({ at, outcome, records }: DnsAnswer, verification: DomainVerification) {
  const hint = outcome === 'no_match' ? mismatch(records, verification) : hints[outcome]
  return { at: isoTime(at), outcome, records, ...(hint !== null && { hint }) }
}

/** What to do about each answer; null where there is nothing to do. */
const hints: Readonly<Record<Exclude<DnsOutcome, 'no_match'>, string | null>> = {
  found: null,
  no_records: 'There is no TXT record at the host: publish one whose value is text',
  no_such_name: 'DNS does not know the host: publish a TXT record at it whose value is text',
  server_failure:
    'The DNS servers of the host fail: see that its zone and its DNSSEC signatures are in order',
  refused: 'The DNS servers refuse to answer for the host: see that its zone is delegated to the right ones',
  timeout: 'The DNS servers of the host do not answer in time',
  error: 'The answer of DNS could not be understood',
}

/** Finds what is amiss with records of which none is the one. */
function mismatch(records: readonly string[], verification: DomainVerification): string {
  const text = challengeText(verification)
  if (records.some(record => record !== text && unquoted(record) === text))
    return 'The record has quotation marks or spaces around its value: publish the value without them'
  if (records.some(record => record.toLowerCase().includes(verification.code)))
    return 'A record has the code, but its value must be text, the whole of it and nothing else'
  if (records.some(record => record.startsWith(challengePrefix)))
    return 'A record has the code of another client or host: add one whose value is text, beside it'
  return 'There are TXT records at the host, but none of them is text: add it beside them'
}

function unquoted(record: string): string {
  return record.replace(/^[\s"'\\“”]+|[\s"'\\“”]+$/g, '')
}
