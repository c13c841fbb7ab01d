// Whether the access rules admit a request. Those of all zones come first.

import type { AccessPolicy } from '../../access/policy.ts'
import type { AccessRequest } from '../../access/rules/access-request.ts'
import type { Facts } from '../../expression/expression.ts'
import type { Work } from '../../expression/work-budget.ts'
import { type ErrorName, errorRows } from '../../errors/catalogue/catalogue.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { refuseAmbiguousPath } from '../../errors/catalogue/ambiguous-path.ts'
import type { TallyScope } from '../../activity/tally-book.ts'
import { factsOf } from '../exchange/facts.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { talliesOf } from '../exchange/count-error.ts'

/** Refuses clients that a rule denies, all if a rule fails (1052), and malformed paths (400). */
export function admit(x: Exchange): Refusal | null {
  const refusal = accessRefusal(x)
  if (refusal !== null && countsTowardsBan(refusal)) countRefusal(x)
  return refusal
}

/** Counts nothing: a redirect that the gateway would follow is not the client's doing. */
export function accessRefusal(x: Exchange): Refusal | null {
  return decide(x, x.snapshot.access, x.zone?.access ?? null)
}

/** By the rules of all zones and of its own. */
export function countRefusal(x: Exchange): void {
  x.snapshot.access.note(x.clientAddress)
  x.zone?.access.note(x.clientAddress)
}

function decide(x: Exchange, ofAll: AccessPolicy, ofZone: AccessPolicy | null): Refusal | null {
  if (ofAll.isEmpty && (ofZone === null || ofZone.isEmpty)) return null
  if ((ofAll.readsPath || ofZone?.readsPath) && x.paths === null) return refuseAmbiguousPath(x)
  const request = new ExchangeAccess(x)
  const verdict = ofAll.decide(request) ?? ofZone?.decide(request) ?? null
  return verdict === 'allow' ? null : verdict
}

/** Excludes legal blocks, failed rules, banned clients, and embeds, for which visitors are not to blame. */
function countsTowardsBan({ error }: Refusal): boolean {
  return errorRows[error].category === 'access_denied' && !notCounted.has(error)
}

const notCounted: ReadonlySet<ErrorName> = new Set(['malicious_activity_banned', 'hotlinking_denied'])

class ExchangeAccess implements AccessRequest {
  readonly address: string
  readonly fields: readonly string[]
  readonly #x: Exchange

  constructor(x: Exchange) {
    this.address = x.clientAddress
    this.fields = x.head.fields
    this.#x = x
  }

  get tallies(): TallyScope {
    return talliesOf(this.#x)
  }

  get paths(): readonly string[] | null {
    return this.#x.paths
  }

  get work(): Work {
    return this.#x.work
  }

  get facts(): Facts {
    return factsOf(this.#x)
  }
}
