// What people see of the audit log.

import { type Html, html } from '../../base/text/html.ts'
import { notice, told } from '../../pages/components.ts'
import type { ListInfo } from '../api.ts'
import type { View } from '../ask.ts'
import { emptyState, pager, table } from '../parts/lists.ts'
import { exactTime, time } from '../parts/values.ts'
import { paths, withQuery } from '../paths.ts'
import { type AuditEntry, type AuditInfo, deedInWords, proofInWords } from './entry.ts'
import { auditActions, auditKinds } from './kinds.ts'

interface AuditList {
  readonly account: string
  readonly query: URLSearchParams
  readonly entries: readonly AuditEntry[]
  readonly info: AuditInfo
  readonly isFiltered: boolean
  readonly faults: readonly string[]
}

export function listView({ account, query, entries, info, isFiltered, faults }: AuditList): View {
  const path = paths.audit(account)
  const { page, cursor, done, format, ...filters } = Object.fromEntries(query)
  const file = (kind: 'csv' | 'ndjson') => withQuery(paths.auditExport(account), { ...filters, format: kind })
  return {
    title: 'Audit log',
    isWide: true,
    ...(faults.length > 0 && { status: 422 }),
    actions: html`<a class="button plain small" download href="${file('csv')}">Download CSV</a><a class="button plain small" download href="${file('ndjson')}">Download JSON lines</a>`,
    content: html`${faults.map(fault => notice(fault, 'bad'))}${filterForm(path, query, isFiltered)}${
      entries.length > 0
        ? table('Audit log, the newest entry first', columns, entries)
        : emptyState('Nothing found', noneInWords(isFiltered, info))
    }${info.total_count === undefined ? onward(path, query, info) : pager(path, query, info as ListInfo)}`,
  }
}

function noneInWords(isFiltered: boolean, { scanned, cursor }: AuditInfo): string {
  if (!isFiltered)
    return 'Each change of settings, members, tokens and clients is noted here, and who signed in, or failed to.'
  if (cursor === undefined) return 'No entry matches these filters.'
  return `None of the ${scanned} entries looked at so far matches. There are older ones.`
}

/** Makes the links of a list whose length nobody has counted. */
function onward(path: string, query: URLSearchParams, { cursor, scanned }: AuditInfo): Html | null {
  const { cursor: here, page, done, ...kept } = Object.fromEntries(query)
  if (here === undefined && cursor === undefined) return null
  const link = (href: string, text: string) => html`<a class="button plain small" href="${href}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">${here !== undefined && link(withQuery(path, kept), 'Newest')}${scanned !== undefined && html`<p>${scanned} entries looked at</p>`}${
    cursor !== undefined && link(withQuery(path, { ...kept, cursor }), 'Older')
  }</nav>`
}

function filterForm(path: string, query: URLSearchParams, isFiltered: boolean): Html {
  const value = (name: string) => query.get(name) ?? ''
  const field = (name: string, label: string, type: 'search' | 'date') =>
    html`<div class="field"><label for="filter-${name}">${label}</label><input id="filter-${name}" name="${name}" type="${type}" value="${value(name)}" autocomplete="off"></div>`
  const choice = (name: string, label: string, options: typeof auditActions | typeof auditKinds) =>
    html`<div class="field"><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}"><option value="">All</option>${options.map(
      ([option, text]) =>
        html`<option value="${option}"${option === value(name) && html` selected`}>${text}</option>`,
    )}</select></div>`
  return html`<form class="search" role="search" method="get" action="${path}">
${field('actor', 'Who (email or id)', 'search')}${choice('action', 'Did what', auditActions)}${choice('type', 'To what', auditKinds)}${field('resource', 'Its id', 'search')}${field('since', 'From (UTC)', 'date')}${field('until', 'To (UTC)', 'date')}<button class="plain">Filter</button>${isFiltered && html`<a href="${path}">All entries</a>`}</form>`
}

const columns = [
  { title: 'When', cell: ({ when }: AuditEntry) => exactTime(when) },
  { title: 'Who', cell: whoOf },
  { title: 'What', isName: true, cell: whatOf },
  {
    title: 'Changed fields',
    cell: ({ metadata }: AuditEntry) => html`<span class="long">${metadata.changed.join(', ')}</span>`,
  },
  { title: 'Ray', cell: ({ metadata }: AuditEntry) => html`<code class="long">${metadata.ray}</code>` },
]

function whoOf({ actor, interface: means, metadata }: AuditEntry): Html {
  const { ip } = actor
  const who = nameOf(actor)
  const { oauth_client_name: app, unvouched_proxy: proxy } = metadata
  return html`<div>${who}<span class="hint">${[
    app !== undefined && html` by ${told(app)}`,
    means === 'UI' && ' in the dashboard',
    ip !== undefined && html` from ${told(ip)}`,
    proxy !== undefined && html` through the proxy ${told(proxy)}`,
  ]}</span></div>`
}

/** Names who acted: a person by their address, a token by its name, what has neither by its id. */
function nameOf({ id, email, name, type }: AuditEntry['actor']): Html {
  if (email !== undefined) return told(email)
  if (type === 'admin') return html`Command line`
  if (type === 'system') return html`Gatehouse`
  if (id === 'stranger') return html`Somebody`
  if (name === undefined) return html`<code class="long">${id}</code>`
  return html`${told(name)} <code class="hint long">${id}</code>`
}

function whatOf(entry: AuditEntry): Html {
  const { dropped } = entry.metadata
  const proof = proofInWords(entry)
  return html`<div>${deedInWords(entry)}${proof !== null && ` ${proof}`} <span class="hint long">${told(entry.resource.id)}</span>${
    dropped !== undefined &&
    html` <span class="hint">${dropped.count} from ${time(dropped.from)} to ${time(dropped.to)}</span>`
  }</div>`
}
