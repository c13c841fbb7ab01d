// Handlers of the audit log, as a page and as a file.

import { strictHeaders } from '../../pages/parts/layout.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import type { AuditEntry, AuditInfo } from './entry.ts'
import { pagesIn } from './resource-links.ts'
import { listView } from './views.ts'

const onAPage = 25

export const showAudit: Handler = async request => {
  const { account, query } = request
  const filters = filtersOf(query)
  const [page, cursor] = [query.get('page'), query.get('cursor')]
  const response = await request.api.tryGet<AuditEntry[]>(apiPath('accounts', account.id, 'audit_logs'), {
    ...filters,
    per_page: onAPage,
    ...(cursor ? { cursor } : page && { page }),
  })
  if (!response.ok && response.status !== 400) return response
  const shown = response.ok
    ? { entries: response.result, info: response.info as (typeof response)['info'] & AuditInfo, faults: [] }
    : { entries: [], info: {}, faults: Object.values(response.faults) }
  const pageOf = await pagesIn(request, shown.entries)
  const isFiltered = Object.values(filters).some(Boolean)
  return listView({ account: account.id, query, isFiltered, pageOf, ...shown })
}

/** Responds with a file that is written as it is read. */
export const exportAudit: Handler = async request => {
  const { account, query } = request
  const file = await request.api.file(apiPath('accounts', account.id, 'audit_logs', 'export'), {
    ...filtersOf(query),
    format: query.get('format') === 'ndjson' ? 'ndjson' : 'csv',
  })
  const { headers, body, stream } = file
  return {
    status: 200,
    headers: [...Object.entries(headers), ...strictHeaders],
    body,
    ...(stream !== undefined && { stream }),
  }
}

function filtersOf(query: PageRequest['query']) {
  const actor = query.get('actor')?.trim() ?? ''
  return {
    [actor.includes('@') ? 'actor.email' : 'actor.id']: actor,
    'action.type': query.get('action'),
    'resource.type': query.get('type'),
    'resource.id': query.get('resource')?.trim(),
    since: query.get('since'),
    before: dayAfter(query.get('until')),
  }
}

/**
 * Returns the day after, so that a day counts to its end; an invalid day is returned as it is, and the API
 * refuses it.
 */
function dayAfter(day: string | null): string | null {
  if (!/^\d{4}-\d\d-\d\d$/.test(day ?? '')) return day
  const next = Date.parse(`${day}T00:00:00Z`) + 86_400_000
  return Number.isNaN(next) ? day : new Date(next).toISOString().slice(0, 10)
}
