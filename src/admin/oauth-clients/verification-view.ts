// The view of host verification: the record to publish, the last DNS result, and advice.

import { challengePrefix, challengeText } from '../../domains/challenge.ts'
import type { DnsAnswer, DnsOutcome, DomainVerification } from '../../store/records/oauth-client.ts'
import { isoTime } from '../records/record-handlers.ts'

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

function viewAnswer(answer: DnsAnswer, verification: DomainVerification) {
  const { at, outcome, records } = answer
  const hint = hintFor(answer, verification)
  return { at: isoTime(at), outcome, records, ...(hint !== null && { hint }) }
}

function hintFor({ outcome, records }: DnsAnswer, verification: DomainVerification): string | null {
  const text = challengeText(verification)
  switch (outcome) {
    case 'found':
      return null
    case 'no_match':
      return mismatch(records, text, verification.code)
    case 'no_records':
      return `The host has no TXT record: publish one with the value ${text}`
    case 'no_such_name':
      return `DNS does not know the host: publish a TXT record there with the value ${text}`
    default:
      return troubles[outcome]
  }
}

const troubles = {
  server_failure: 'The DNS servers of the host fail: check its zone and its DNSSEC signatures',
  refused:
    'The DNS servers refuse queries for the host: check that its zone is delegated to the right servers',
  timeout: 'The DNS servers of the host timed out',
  error: "The gateway's resolver is unreachable or sent an invalid response",
} as const satisfies Partial<Record<DnsOutcome, string>>

function mismatch(records: readonly string[], text: string, code: string): string {
  if (records.some(record => record !== text && unquoted(record) === text))
    return `The record has quotation marks or spaces around its value: publish ${text} without them`
  if (records.some(record => record.toLowerCase().includes(code)))
    return `A record contains the code, but its whole value must be ${text}`
  if (records.some(record => record.startsWith(challengePrefix)))
    return `A record has the code of another client or host: add another record with the value ${text}`
  return `The host has TXT records, but not this one: add another with the value ${text}`
}

function unquoted(record: string): string {
  return record.replace(/^[\s"'\\“”]+|[\s"'\\“”]+$/g, '')
}
