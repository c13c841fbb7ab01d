// What is told of a change: a line in the log once its entry was written, and which members were set or changed.

import type { Logger } from '../../log/log.ts'
import type { AuditEntry } from '../../store/records.ts'

/** Writes an entry to the log. */
export function tellAudit(log: Logger, entry: AuditEntry, message = 'audit'): void {
  const { id, account, actor, address, ray, action, resourceKind, resource, changed, dropped, app } = entry
  const what = { action, resource_kind: resourceKind, resource, changed, ...(dropped && { dropped }) }
  const who = { actor, ...(app && { user: app.user, client: app.client }) }
  log.info({ id, account, ...who, address, ray, ...what }, message)
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
