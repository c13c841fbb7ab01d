// The handler of the audit entries of an account, in the shape of the published clients.

import { isInPerson } from '../../people/sign-in/person-token.ts'
import { commandLine, isStranger, keeper } from '../../store/records/audit-entry.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import { type ApiResponse, failures, listInTurns, pieceInTurns } from '../http/envelope.ts'
import type { Api, Call } from '../api/api-types.ts'
import { auditActions, auditKinds } from './schemas.ts'
import { auditWithin, type AuditSpan } from './audit-span.ts'
import { csvHead, csvLine } from './csv.ts'
import { cutOf, isoTime, responseOf } from '../records/record-handlers.ts'
import { cursorOf, type PageQuery, pageParameters, Parameters } from '../http/query.ts'
import { proxyIn } from '../http/caller-address.ts'

const filterParameters = ['actor.id', 'actor.email', 'action.type', 'resource.type', 'resource.id'] as const

const spanParameters = ['since', 'before', 'direction'] as const

export const auditParameters = [...pageParameters, ...spanParameters, ...filterParameters] as const
export const auditExportParameters = [...spanParameters, ...filterParameters, 'format'] as const

const maxScanned = 10_000
const maxExported = 100_000

interface Criteria extends AuditSpan {
  readonly holds: ((entry: AuditEntry) => boolean) | null
}

export async function listAuditLogs({ account, query }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const page = parameters.page()
  const criteria = read(query, parameters)
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const { since, before, descending, holds } = criteria
  if (holds === null) {
    const { items, total } = await store.audit.list(account, { ...cutOf(page), since, before, descending })
    return responseOf(items, page, total, { view, placeOf: entry => entry })
  }
  const entries = auditWithin(store.audit, account, { ...criteria, after: page.after })
  return query.has('page') ? sift(entries, holds, page) : scan(entries, holds, page)
}

/** Responds with all entries that match, as CSV or as lines of JSON, up to a number. */
export async function exportAuditLogs({ account, query, now }: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(query)
  const criteria = read(query, parameters)
  const format = parameters.choice('format', ['csv', 'ndjson'])
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const entries = auditWithin(store.audit, account, { ...criteria, after: null })
  const name = `audit-${isoTime(now).slice(0, 10)}.${format}`
  return {
    status: 200,
    headers: {
      'content-type': format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
      'content-disposition': `attachment; filename="${name}"`,
    },
    body: format === 'csv' ? csvHead : '',
    stream: lines(
      entries,
      criteria.holds,
      format === 'csv' ? csvLine : entry => `${JSON.stringify(view(entry))}\n`,
    ),
  }
}

async function* lines(
  entries: AsyncIterable<readonly AuditEntry[]>,
  holds: Criteria['holds'],
  write: (entry: AuditEntry) => string,
): AsyncGenerator<string> {
  let count = 0
  for await (const some of entries) {
    const shown = (holds === null ? some : some.filter(holds)).slice(0, maxExported - count)
    if (shown.length > 0) yield shown.map(write).join('')
    count += shown.length
    if (count === maxExported) return
  }
}

function read(query: URLSearchParams, parameters: Parameters): Criteria {
  const since = parameters.time('since')
  const before = parameters.time('before')
  const descending = parameters.choice('direction', ['desc', 'asc']) === 'desc'
  const tests: ((entry: AuditEntry) => boolean)[] = []
  const actor = parameters.text('actor.id')
  if (actor !== null) tests.push(entry => idsOf(entry).includes(actor))
  const email = parameters.text('actor.email')?.toLowerCase() ?? null
  if (email !== null) tests.push(({ app }) => app?.email === email)
  const action = query.has('action.type') ? parameters.choice('action.type', auditActions) : null
  if (action !== null) tests.push(entry => entry.action === action)
  const kind = query.has('resource.type') ? parameters.choice('resource.type', auditKinds) : null
  if (kind !== null) tests.push(({ resourceKind }) => resourceKind === kind)
  const resource = parameters.text('resource.id')
  if (resource !== null) tests.push(entry => entry.resource === resource)
  const holds = tests.length === 0 ? null : (entry: AuditEntry) => tests.every(test => test(entry))
  return { since, before, descending, holds }
}

/** Returns the ids by which the actor is found: as shown, and that of the consent of an app. */
function idsOf({ actor, app }: AuditEntry): readonly string[] {
  if (isStranger(actor)) return ['stranger']
  return app ? [app.user, actor] : [actor]
}

async function scan(
  entries: AsyncIterable<readonly AuditEntry[]>,
  holds: (entry: AuditEntry) => boolean,
  { perPage }: PageQuery,
): Promise<ApiResponse> {
  const items: AuditEntry[] = []
  let [scanned, last] = [0, null as AuditEntry | null]
  for await (const some of entries)
    for (const entry of some) {
      if (items.length === perPage || scanned === maxScanned) {
        const info = { count: items.length, per_page: perPage, scanned, cursor: cursorOf(last!) }
        return pieceInTurns(items, view, info)
      }
      scanned++
      last = entry
      if (holds(entry)) items.push(entry)
    }
  return pieceInTurns(items, view, { count: items.length, per_page: perPage, scanned })
}

async function sift(
  entries: AsyncIterable<readonly AuditEntry[]>,
  holds: (entry: AuditEntry) => boolean,
  { page, perPage }: PageQuery,
): Promise<ApiResponse> {
  const items: AuditEntry[] = []
  let total = 0
  for await (const some of entries)
    for (const entry of some) {
      if (!holds(entry)) continue
      if (total >= (page - 1) * perPage && items.length < perPage) items.push(entry)
      total++
    }
  return listInTurns(items, view, { page, perPage, total })
}

/** Shows an entry; of failed actions, only sign-ins are recorded. */
function view(entry: AuditEntry) {
  const { id, account, at, action, resourceKind, resource, resourceName: name, values, proof } = entry
  return {
    id,
    action: { type: action, result: proof?.failure === undefined },
    ...viewActor(entry),
    resource: { id: resource, type: resourceKind, ...(name !== undefined && { name }) },
    ...(values && { oldValue: JSON.stringify(values.before), newValue: JSON.stringify(values.after) }),
    when: isoTime(at),
    metadata: viewMetadata(entry),
    owner: { id: account },
  }
}

function viewActor({ actor: id, actorName: name, address, app }: AuditEntry) {
  if (id === commandLine.id) return { actor: { id, type: 'admin' }, interface: 'CLI' }
  if (id === keeper.id) return { actor: { id, type: 'system' }, interface: 'System' }
  const ip = proxyIn(address) === null && { ip: address }
  if (app) {
    const { user, email, isEmailVerified = false } = app
    const actor = { id: user, email, email_verified: isEmailVerified, type: 'user', ...ip }
    return { actor, interface: isInPerson(app) ? 'UI' : 'API' }
  }
  if (isStranger(id)) return { actor: { id: 'stranger', type: 'user', ...ip }, interface: 'UI' }
  return { actor: { id, type: 'user', ...(name !== undefined && { name }), ...ip }, interface: 'API' }
}

function viewMetadata({ actor, ray, changed, address, app, proof, dropped }: AuditEntry) {
  const proxy = proxyIn(address)
  const means = app &&
    !isInPerson(app) && {
      oauth_client_id: app.client,
      oauth_client_name: app.clientName,
      oauth_grant_id: actor,
    }
  const shown = proof && { method: proof.method, ...(proof.failure && { reason: proof.failure }) }
  const details = { ray, changed, ...shown, ...means, ...(proxy !== null && { unvouched_proxy: proxy }) }
  if (dropped === undefined) return details
  const { count, from, to } = dropped
  return { ...details, dropped: { count, from: isoTime(from), to: isoTime(to) } }
}
