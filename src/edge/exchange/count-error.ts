// Counts the error of a request for its zone or AI gateway, with what leads to its line in the log.

import { withoutQuery } from '../../base/path/path.ts'
import { ownText } from '../../base/text/own-text.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Occurrence } from '../../store/records/tally.ts'
import { holdsOurs } from '../../tokens/misplaced-tokens.ts'
import { gatewayError, gatewaysScope, noGateway, noZone } from '../../activity/tally-scopes.ts'
import type { TallyBook, TallyCounter, TallyScope } from '../../activity/tally-book.ts'
import type { Exchange } from './exchange.ts'

const maxLengths = { method: 32, host: 253, path: 300 } as const

/** `now` is in monotonic ms. */
export function countError(x: Exchange, error: ErrorName, now: number): void {
  const counter = counterOf(x, errorRows[error].code)
  counter.inc()
  if (counter.wantsOccurrence) counter.addOccurrence(occurrenceOf(x, now))
}

/** AI gateways have their own. */
export function talliesOf({ zone, audience, plane }: Exchange): TallyScope {
  return zone?.tallies ?? plane.tallies.scope(audience.kind === 'ai' ? noGateway : noZone)
}

function counterOf(x: Exchange, code: number): TallyCounter {
  const gateway = x.ai?.namedGateway ?? null
  if (gateway === null) return talliesOf(x).error(code)
  if (last?.gateway !== gateway || last.code !== code || last.book !== x.plane.tallies) {
    const book = x.plane.tallies
    const counter = book
      .scope(gatewaysScope(gateway.account))
      .counter('error', gatewayError(code, gateway.id))
    last = { book, gateway, code, counter }
  }
  return last.counter
}

/** In a flood of refused calls the next counter is the same. */
let last: {
  readonly book: TallyBook
  readonly gateway: Gateway
  readonly code: number
  readonly counter: TallyCounter
} | null = null

function occurrenceOf(x: Exchange, now: number): Occurrence {
  const { head, plane, ray, status } = x
  return {
    at: plane.clock.now() - (now - x.startedAt),
    ray,
    // A method or path that contains one of our credentials must not be stored.
    method: holdsOurs(head.method) ? '' : cut(head.method, maxLengths.method),
    host: cut(x.host, maxLengths.host),
    path: holdsOurs(head.target) ? '' : cut(withoutQuery(head.target), maxLengths.path),
    status,
    format: x.audience.formatOf(head.accept),
  }
}

/** A slice would keep the whole head of its request in memory. */
function cut(text: string, max: number): string {
  return ownText(text.length > max ? text.slice(0, max) : text)
}
