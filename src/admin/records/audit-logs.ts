// The handler of the audit entries of an account, in the shape of the published clients.

import { isInPerson } from '../../people/person-token.ts'
import { commandLine, keeper } from '../../store/audit-entry.ts'
import type { AuditEntry } from '../../store/records.ts'
import { type ApiResponse, failures } from '../envelope.ts'
import type { Api, Call } from '../row.ts'
import { responseOf, cutOf, isoTime } from './kept.ts'
import { pageParameters, Parameters } from '../request/query.ts'
import { proxyIn } from '../sender.ts'

export const auditParameters = [...pageParameters, 'since', 'before', 'direction'] as const

/** Responds with the entries from `since` up to but not at `before`, the newest first unless asked otherwise. */
export async function listAuditLogs({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const since = parameters.time('since')
  const before = parameters.time('before')
  const descending = parameters.choice('direction', ['desc', 'asc']) === 'desc'
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const { items, total } = await store.audit.list(account, { ...cutOf(page), since, before, descending })
  return responseOf(items, page, total, { view, placeOf: entry => entry })
}

/** Shows an entry; only what was done is written down, so the result is always true. */
function view(entry: AuditEntry) {
  const { id, account, at, action, resourceKind, resource } = entry
  return {
    id,
    action: { type: action, result: true },
    ...viewActor(entry),
    resource: { id: resource, type: resourceKind },
    when: isoTime(at),
    metadata: viewMetadata(entry),
    owner: { id: account },
  }
}

function viewActor({ actor: id, address, app }: AuditEntry) {
  if (id === commandLine.id) return { actor: { id, type: 'admin' }, interface: 'CLI' }
  if (id === keeper.id) return { actor: { id, type: 'system' }, interface: 'System' }
  const ip = proxyIn(address) === null && { ip: address }
  if (app) {
    const actor = { id: app.user, email: app.email, type: 'user', ...ip }
    return { actor, interface: isInPerson(app) ? 'UI' : 'API' }
  }
  return { actor: { id, type: 'user', ...ip }, interface: 'API' }
}

function viewMetadata({ actor, ray, changed, address, app, dropped }: AuditEntry) {
  const proxy = proxyIn(address)
  const means = app &&
    !isInPerson(app) && {
      oauth_client_id: app.client,
      oauth_client_name: app.clientName,
      oauth_grant_id: actor,
    }
  const known = { ray, changed, ...means, ...(proxy !== null && { unvouched_proxy: proxy }) }
  if (dropped === undefined) return known
  const { count, from, to } = dropped
  return { ...known, dropped: { count, from: isoTime(from), to: isoTime(to) } }
}
