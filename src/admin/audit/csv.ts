// Audit entries as CSV (RFC 4180), for spreadsheets.

import { isInPerson } from '../../people/sign-in/person-token.ts'
import { isStranger } from '../../store/records/audit-entry.ts'
import type { ActingApp, AuditEntry } from '../../store/records/records.ts'
import { proxyIn } from '../http/caller-address.ts'
import { isoTime } from '../records/record-handlers.ts'

type Column = readonly [name: string, of: (entry: AuditEntry) => string]

const columns: readonly Column[] = [
  ['when', ({ at }) => isoTime(at)],
  ['id', ({ id }) => id],
  ['action', ({ action }) => action],
  ['result', ({ proof }) => String(proof?.failure === undefined)],
  ['resource_type', ({ resourceKind }) => resourceKind],
  ['resource_id', ({ resource }) => resource],
  ['actor_id', ({ actor, app }) => app?.user ?? (isStranger(actor) ? 'stranger' : actor)],
  ['actor_name', ({ actorName }) => actorName ?? ''],
  ['actor_email', ({ app }) => app?.email ?? ''],
  ['actor_email_verified', ({ app }) => (app ? String(app.isEmailVerified === true) : '')],
  ['ip', ({ address }) => (proxyIn(address) === null ? address : '')],
  ['unvouched_proxy', ({ address }) => proxyIn(address) ?? ''],
  ['oauth_client_id', ({ app }) => (isOfApp(app) ? app.client : '')],
  ['oauth_client_name', ({ app }) => (isOfApp(app) ? app.clientName : '')],
  ['oauth_grant_id', ({ actor, app }) => (isOfApp(app) ? actor : '')],
  ['method', ({ proof }) => proof?.method ?? ''],
  ['reason', ({ proof }) => proof?.failure ?? ''],
  ['changed', ({ changed }) => changed.join(' ')],
  ['dropped', ({ dropped }) => (dropped ? String(dropped.count) : '')],
  ['ray', ({ ray }) => ray],
  ['resource_name', ({ resourceName }) => resourceName ?? ''],
  ['old_value', ({ values }) => (values ? JSON.stringify(values.before) : '')],
  ['new_value', ({ values }) => (values ? JSON.stringify(values.after) : '')],
]

/** Whether an app acted rather than the person: members hidden in the list are hidden in a file, too. */
function isOfApp(app: ActingApp | undefined): app is ActingApp {
  return app !== undefined && !isInPerson(app)
}

export const csvHead = `${columns.map(([name]) => name).join(',')}\r\n`

export function csvLine(entry: AuditEntry): string {
  return `${columns.map(([, of]) => cellOf(of(entry))).join(',')}\r\n`
}

/** An apostrophe turns what a spreadsheet would take for a formula into text, full-width signs included. */
function cellOf(value: string): string {
  const text = /^[=+\-@＝＋－＠\t\r\n]/.test(value) ? `'${value}` : value
  return `"${text.replaceAll('"', '""')}"`
}
