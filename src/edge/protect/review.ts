// Whether what a gate has let in may stay open. Sweeps of connections look, and mostly find it in a cache.

import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { deliver, deliverBug } from '../exchange/deliver.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { GateFault, Watch } from '../gates/gate.ts'
import type { Gate } from '../gates/gates.ts'
import { requesterOf } from './protect.ts'

/** Ms for which a credential that cannot be checked still counts: one failed query ends nothing. */
const patience = 5_000
/** Queries at a time: the others follow in the next sweeps. */
const maxQueries = 500
/** RFC 6455 section 7.4.1. */
const policyViolation = 1008

/** Whether some wait for the next sweep. */
let hasBacklog = false
const queried = new Set<Exchange>()
/** Monotonic ms. */
const uncheckedSince = new WeakMap<Exchange, number>()

/** Cuts off what its gate would no longer let in, if that is to end. */
export function review(x: Exchange): void {
  const watch = x.admission?.watch
  if (watch === undefined || queried.has(x)) return
  if (queried.size === maxQueries) {
    hasBacklog = true
    return
  }
  const gates = gatesOf(x)
  if (gates === null) return
  const fault = watch.check(requesterOf(x), gates)
  if (!(fault instanceof Promise)) return settle(x, watch, fault)
  queried.add(x)
  fault
    .finally(() => queried.delete(x))
    .then(fault => {
      if (x.stage !== 'complete') settle(x, watch, fault)
    })
    .catch(bug => deliverBug(x, bug))
}

/** Those of its route, as the last reload has left them; null for a route that is open by now. */
function gatesOf({ plane, snapshot, route, host, paths }: Exchange): readonly Gate[] | null {
  const { zones } = plane.snapshot
  const zone = plane.snapshot === snapshot ? null : zones.find(host)
  const now = zone === null ? null : (zone.routes.always ?? zone.routes.find(paths))
  // What leads nowhere any more is as the reload found it.
  return now === null || now === 'ambiguous' ? (route!.gates ?? []) : now.gates
}

/** Returns whether the next sweep must go on with some; once. */
export function takeBacklog(): boolean {
  const hadBacklog = hasBacklog
  hasBacklog = false
  return hadBacklog
}

function settle(x: Exchange, { kind }: Watch, fault: GateFault | null): void {
  if (fault === null) return void uncheckedSince.delete(x)
  if (fault.kind === 'unavailable' && !isOverdue(x)) return
  x.zone!.metrics.gate(kind, 'ended')
  if (fault.challenge !== null) x.addedLines += `WWW-Authenticate: ${fault.challenge}\r\n`
  x.handler?.closeNow?.(policyViolation, 'no longer let in')
  x.handler?.abort()
  deliver(x, refusalFor(fault))
}

function isOverdue(x: Exchange): boolean {
  const { coarseNow } = x.plane
  const since = uncheckedSince.get(x) ?? coarseNow
  uncheckedSince.set(x, since)
  return coarseNow - since >= patience
}

function refusalFor({ kind, cause, wait }: GateFault): Refusal {
  if (kind === 'unavailable') return refuse('service_unavailable', { wording, retryAfter: wait }, cause)
  return refuse(kind === 'insufficient' ? 'forbidden' : 'unauthorized', { wording }, cause)
}

const wording = {
  heading: 'You are no longer let in',
  detail:
    'The session or token of your request ended while it was under way, lost a right that the operator of the site requires, or could not be checked any longer. The gateway broke the request off. The site may have acted on it.',
  guidance:
    '**Sign in again, or get a new token.** Then see what your request has done before you send it again.',
}
