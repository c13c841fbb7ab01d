// Counts of AI gateways.

import { Tally, tallies } from './distribution.ts'

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

export class AiMetrics {
  readonly allowed = tallies(allowReasons)
  readonly refused = tallies(refuseReasons)
  readonly logEntries = tallies(['written', 'dropped', 'over_limit'])
  /** By the status that the provider sent. */
  readonly keysSetAside = tallies(['401', '429'])
  readonly lookups = tallies(['remembered', 'asked', 'told'])
  /** Bytes of buffered bodies, and calls refused because others used up that memory. */
  readonly bodyBytes = new Tally()
  readonly callsWithoutRoom = new Tally()
  queuedEntries: (() => number) | null = null
}
