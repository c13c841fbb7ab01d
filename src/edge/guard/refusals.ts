// What callers are told if the guard of a gateway stops their call: names of what was found, never the text.

import { fault } from '../../errors/catalogue/api-faults.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { NoVerdict } from '../../guard/webhook/guard-webhooks.ts'
import type { GuardCheck } from '../../store/records/records.ts'

/** Refuses what has something that the guard blocks. */
export function refuseBlocked(check: GuardCheck, names: readonly string[]): Refusal {
  const found = names.join(', ')
  return check === 'request'
    ? refuseAs(fault('request_blocked', found), 'The request was blocked')
    : refuseAs(fault('response_blocked', found), 'The response was blocked')
}

/** Refuses what cannot be looked at, where the guard would have to redact or block. */
export function refuseUnreadable(check: GuardCheck, what: string): Refusal {
  return check === 'request'
    ? refuseAs(fault('unreadable_to_guard', what), 'The request was blocked')
    : refuseAs(fault('unreadable_response', what), 'The response was blocked')
}

/** Refuses what a webhook has no verdict about, since it must not pass without one (503). */
export function refuseUndecided(check: GuardCheck, outcome: Exclude<NoVerdict, 'too_large'>): Refusal {
  const cause = fault('guard_unavailable', check, reasons[outcome])
  const remains =
    check === 'request' ? 'Nothing was sent to a provider.' : 'What the provider responded is not passed on.'
  const wording = {
    heading: 'The guard did not decide',
    detail: `${cause.message}.`,
    guidance: `**Wait and retry.** Try again no sooner than {retry_after} s from now. ${remains}`,
    isOfRequest: true,
  }
  const facts = { faults: [cause], wording, ...(outcome === 'busy' && { retryAfter: 1 }) }
  return refuse('service_unavailable', facts, { code: 'GH_GUARD_WEBHOOK' })
}

const reasons = {
  busy: 'its webhook is asked too much at once',
  timeout: 'its webhook did not respond in time',
  unreachable: 'its webhook cannot be reached',
  left: 'its webhook cannot be reached',
  invalid: 'its webhook did not respond with a verdict',
  no_secret: 'the secret of its webhook cannot be read here',
} as const

/** The wording is for events of streams, which have no faults. */
function refuseAs(cause: ReturnType<typeof fault>, heading: string): Refusal {
  const wording = { heading, detail: `${cause.message}.`, guidance, isOfRequest: true }
  return refuse('forbidden', { faults: [cause], wording }, { code: 'guard' })
}

const guidance =
  '**Do not retry.** The same call is blocked again. Leave out what was found, or ask the operator of the gateway what its guard allows.'
