// What a soak sends: every kind of request in turn, those that are refused and those that fail among them.
import { readFileSync } from 'node:fs'
import { asText, type Call, chatAt, type Door, ROOT } from './call.ts'
import { keep } from './launch.ts'
import { unknownTokens } from './unknown-tokens.ts'

/** Paths of the zone: one that a rule denies, and one whose origin refuses connections. */
export const DENIED = '/denied'
export const DOWN = '/down'

/** Kinds of requests, and those of them that are meant to have a status of 400 or more. */
const KINDS = 9
const REFUSED = 4

/** The share of responses that are meant to be refusals or errors. */
export const refusedShare = REFUSED / KINDS

/** Tokens of a streamed chat: at 20 ms each, a few connections have many of them a second. */
const TOKENS = 2

/** Rounds of all kinds before they repeat, each with a token of its own that nobody was given. */
const ROUNDS = 100

/** Writes the requests into a file, each ended by a zero byte, and returns its path. */
export function soakRequests(native: Door, rest: Door): string {
  const tokens = readFileSync(unknownTokens('svct_'), 'utf8').split('\n', ROUNDS)
  const calls = tokens.flatMap(token => roundOf(native, rest, token))
  return keep('soak-requests', calls.map(call => `${asText(call)}\0`).join(''))
}

function roundOf(native: Door, rest: Door, unknown: string): Call[] {
  const stranger: Door = { ...native, token: [native.token![0], `Bearer ${unknown}`] }
  return [
    ROOT,
    chatAt(native),
    { ...ROOT, path: DENIED },
    { ...ROOT, method: 'POST', body: 'x'.repeat(60) },
    chatAt(native, 'own', TOKENS),
    chatAt(stranger),
    { ...ROOT, path: '/missing' },
    chatAt(rest),
    { ...ROOT, path: DOWN },
  ]
}
