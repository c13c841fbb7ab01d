// What is told of a change: an entry that is kept together with it, and a line in the log once it was written. The handlers that write call it, and `gatehouse
// token create`.

import { randomBytes } from 'node:crypto'
import type { Logger } from '../../log/log.ts'
import type { AuditAction, AuditEntry } from '../../store/records.ts'
import type { Call } from '../row.ts'

/** What a change was made to. */
export type Resource = Pick<AuditEntry, 'resourceKind' | 'resource'>

/** Who asks for a change, when and from where; a call is one. */
type Origin = Pick<Call, 'account' | 'now' | 'address' | 'ray'> & {
  readonly caller: Pick<Call['caller'], 'id'>
}

/** Makes the entry of a change that somebody asks for; `changed` are names of members as the API has them. */
export function auditOf(
  { account, caller, now, address, ray }: Origin,
  action: AuditAction,
  { resourceKind, resource }: Resource,
  changed: readonly string[] = [],
): AuditEntry {
  return {
    id: nextId(now),
    account,
    at: now,
    actor: caller.id,
    address,
    ray,
    action,
    resourceKind,
    resource,
    changed,
  }
}

/** Stands for the operator, who needs no token for a command that writes to the store itself. */
export const commandLine = { id: 'command line' } as const

/** Stands for the gateway itself, which drops entries beyond their bounds. */
export const keeper = { id: 'gatehouse' } as const

/** Writes an entry to the log. */
export function tellAudit(log: Logger, entry: AuditEntry, message = 'audit'): void {
  const { id, account, actor, address, ray, action, resourceKind, resource, changed, dropped } = entry
  const what = { action, resource_kind: resourceKind, resource, changed, ...(dropped && { dropped }) }
  log.info({ id, account, actor, address, ray, ...what }, message)
}

/** Lists the members that differ between two views of a record, or that only one has. */
export function changedMembers(before: object, after: object): readonly string[] {
  const values = new Map(Object.entries(before))
  const later = new Map(Object.entries(after))
  const names = [...new Set([...values.keys(), ...later.keys()])]
  return names.filter(name => JSON.stringify(values.get(name)) !== JSON.stringify(later.get(name)))
}

/** Lists the members that a body sets; only for one that was found valid. */
export function membersSet(body: unknown): readonly string[] {
  return Object.entries(body as object).flatMap(([name, value]) => (value === null ? [] : [name]))
}

/** Makes an id that sorts by time, and among those of this process and ms by turn, so that lists keep the order of what was done. */
function nextId(now: number): string {
  turn = (turn + 1) % 2 ** 16
  return hex(now, 12) + hex(turn, 4) + randomBytes(8).toString('hex')
}

let turn = 0

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}
