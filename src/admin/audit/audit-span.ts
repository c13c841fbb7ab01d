// Iterates over the audit entries of an account in batches.

import { nextTurn } from '../../base/turns/turns.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import type { AuditLog, Position } from '../../store/contract/store.ts'

export interface AuditSpan {
  /** Ms since the epoch: up to but not at `before`; null for no bound. */
  readonly since: number | null
  readonly before: number | null
  readonly descending: boolean
}

interface AuditWalk extends AuditSpan {
  readonly after: Position | null
}

const step = 200

export async function* auditWithin(
  audit: AuditLog,
  account: string,
  { since, before, descending, after: first }: AuditWalk,
): AsyncGenerator<readonly AuditEntry[]> {
  const start = descending ? before : since
  // Queried without the time, since the store would count matching entries at each step.
  const everything = { since: null, before: null, descending, offset: 0, limit: step }
  const isBeyond = ({ at }: AuditEntry) =>
    descending ? since !== null && at < since : before !== null && at >= before
  for (let after = behind(first, start === null ? null : { at: start, id: '' }, descending); ; ) {
    const { items } = await audit.list(account, { ...everything, after })
    const end = items.findIndex(isBeyond)
    const some = end === -1 ? items : items.slice(0, end)
    if (some.length > 0) yield some
    if (end !== -1 || items.length < step) return
    after = items.at(-1)!
    await nextTurn()
  }
}

function behind(one: Position | null, other: Position | null, descending: boolean): Position | null {
  if (one === null || other === null) return one ?? other
  const isLater = one.at === other.at ? one.id > other.id : one.at > other.at
  return isLater === descending ? other : one
}
