// Counts of AI gateways.

import { Distribution, Tally, tallies } from './distribution.ts'

/** Why a call to an AI gateway was allowed or denied: closed sets, so that callers cannot grow the labels. */
export const allowReasons = ['authenticated', 'authentication_off'] as const
export const refuseReasons = [
  'missing',
  'malformed',
  'unknown',
  'disabled',
  'expired',
  'not_yet_valid',
  'address_denied',
  'address_unknown',
  'other_api',
  'forbidden',
  'misplaced',
  'store_unreachable',
] as const
export type RefuseReason = (typeof refuseReasons)[number]

const guardOutcomes = [
  'allow',
  'flag',
  'replace',
  'block',
  'too_large',
  'busy',
  'timeout',
  'unreachable',
  'invalid',
  'no_secret',
  'left',
] as const

interface WaitingForExport {
  readonly entries: number
  readonly bytes: number
  /** Ms since the epoch; null if nothing waits. */
  readonly oldest: number | null
}

export class AiMetrics {
  readonly allowed = tallies(allowReasons)
  readonly refused = tallies(refuseReasons)
  /** Calls of gateways with policies. */
  readonly policyDecisions = tallies(['allow', 'block', 'no_match'])
  /** What guards have found, by where it was and what was done about it. */
  readonly guardFindings = {
    request: tallies(['flag', 'redact', 'block']),
    response: tallies(['flag', 'redact', 'block']),
  } as const
  /** Questions to the webhooks of guards, by what came of them. */
  readonly guardQuestions = tallies(guardOutcomes)
  readonly guardWaits = new Distribution()
  readonly logEntries = tallies(['written', 'dropped', 'over_limit'])
  /** By the status that the provider sent. */
  readonly keysSetAside = tallies(['401', '429'])
  readonly lookups = tallies(['remembered', 'asked', 'told'])
  /** Bytes of buffered bodies, and calls refused because others used up that memory. */
  readonly bodyBytes = new Tally()
  readonly callsWithoutRoom = new Tally()
  queuedEntries: (() => number) | null = null
  readonly exportedEntries = tallies(['sent', 'dropped', 'damaged'])
  /** Failed attempts to deliver a batch. */
  readonly exportFailures = tallies(['unreachable', 'timeout', 'rejected', 'disk'])
  /** Entries in the memory of this process, until the spool of the export takes them; null if it is off. */
  unspooledEntries: (() => number | null) | null = null
  /** What is in the spool; null if the export is off, or another process sends. */
  waitingForExport: (() => WaitingForExport | null) | null = null
}
