// What is counted of AI gateways.

import { Tally, tallies } from './distribution.ts'

/** Why a call to an AI gateway was let in, or not: closed sets, so that no caller can make labels grow. */
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
  'store_away',
] as const
export type RefuseReason = (typeof refuseReasons)[number]

/** What AI gateways decided and kept. */
export class AiMetrics {
  readonly allowed = tallies(allowReasons)
  readonly refused = tallies(refuseReasons)
  readonly logEntries = tallies(['written', 'dropped', 'over_limit'])
  /** By the status that the provider gave. */
  readonly keysSetAside = tallies(['401', '429'])
  readonly lookups = tallies(['remembered', 'asked', 'told'])
  /** Bytes of request bodies that are buffered whole, and calls that were refused since those of others took all that there may be. */
  readonly bodyBytes = new Tally()
  readonly callsWithoutRoom = new Tally()
  /** Returns how many log entries wait for the store; null before there is a queue. */
  queuedEntries: (() => number) | null = null
}
