// The pages of the audit log.

import { type Html, html } from '../../base/text/html.ts'
import { notice, isolated } from '../../pages/parts/components.ts'
import type { ListInfo } from '../page/api-client.ts'
import type { View } from '../page/page-request.ts'
import { emptyState, pager, table } from '../parts/lists.ts'
import { brief, exactTime, oneLine, time } from '../parts/values.ts'
import { paths, withQuery } from '../page/paths.ts'
import {
  type AuditEntry,
  type AuditInfo,
  type Change,
  changesIn,
  deedInWords,
  proofInWords,
} from './entry.ts'
import { auditActions, auditKinds } from './kinds.ts'
import type { PageOf } from './resource-links.ts'

interface AuditList {
  readonly account: string
  readonly query: URLSearchParams
  readonly entries: readonly AuditEntry[]
  readonly info: AuditInfo
  readonly isFiltered: boolean
  readonly faults: readonly string[]
  readonly pageOf: PageOf
}

export function listView({ account, query, entries, info, isFiltered, faults, pageOf }: AuditList): View {
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
        ? table('Audit log, the newest entry first', columnsFor(pageOf), entries)
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

function onward(path: string, query: URLSearchParams, { cursor, scanned }: AuditInfo): Html | null {
  const { cursor: here, page, done, ...filters } = Object.fromEntries(query)
  if (here === undefined && cursor === undefined) return null
  const link = (href: string, text: string) => html`<a class="button plain small" href="${href}">${text}</a>`
  return html`<nav class="pager" aria-label="Pages">${here !== undefined && link(withQuery(path, filters), 'Newest')}${scanned !== undefined && html`<p>${scanned} entries looked at</p>`}${
    cursor !== undefined && link(withQuery(path, { ...filters, cursor }), 'Older')
  }</nav>`
}

function filterForm(path: string, query: URLSearchParams, isFiltered: boolean): Html {
  const value = (name: string) => query.get(name) ?? ''
  const field = (name: string, label: string, type: 'search' | 'date', hint = '') =>
    html`<div class="field"><label for="filter-${name}">${label}</label><input id="filter-${name}" name="${name}" type="${type}" value="${value(name)}" autocomplete="off"${hint !== '' && html` placeholder="${hint}"`}></div>`
  const choice = (name: string, label: string, options: typeof auditActions | typeof auditKinds) =>
    html`<div class="field"><label for="filter-${name}">${label}</label><select id="filter-${name}" name="${name}"><option value="">All</option>${options.map(
      ([option, text]) =>
        html`<option value="${option}"${option === value(name) && html` selected`}>${text}</option>`,
    )}</select></div>`
  return html`<form class="search in-a-row" role="search" aria-label="Filters" method="get" action="${path}">
${field('actor', 'Who', 'search', 'Email or id')}${choice('action', 'Did what', auditActions)}${choice('type', 'To what', auditKinds)}${field('resource', 'Its id', 'search')}${field('since', 'From (UTC)', 'date')}${field('until', 'To (UTC)', 'date')}<button class="plain">Filter</button>${isFiltered && html`<a href="${path}">All entries</a>`}</form>`
}

function columnsFor(pageOf: PageOf) {
  return [
    { title: 'When', cell: ({ when }: AuditEntry) => exactTime(when) },
    { title: 'Who', cell: (entry: AuditEntry) => whoOf(entry, pageOf) },
    { title: 'What', isName: true, cell: (entry: AuditEntry) => whatOf(entry, pageOf) },
    { title: 'Changed', cell: changedIn },
    { title: 'Ray', cell: ({ metadata }: AuditEntry) => html`<code>${oneLine(metadata.ray)}</code>` },
  ]
}

function linked(page: string | null, text: Html): Html {
  return page === null ? text : html`<a href="${page}">${text}</a>`
}

function whoOf(entry: AuditEntry, pageOf: PageOf): Html {
  const { actor, metadata } = entry
  const { oauth_client_id: client, oauth_client_name: app } = metadata
  const page = client === undefined ? null : pageOf('oauth_client', client)
  return html`<div>${nameOf(actor, pageOf)}${app !== undefined && html` <span class="hint">by ${linked(page, oneLine(app))}</span>`}${meansOf(
    entry,
  ).map(means => html` <span class="hint">${oneLine(means)}</span>`)}</div>`
}

function meansOf({
  actor: { ip },
  interface: means,
  metadata: { unvouched_proxy: proxy },
}: AuditEntry): readonly string[] {
  const all = [
    ip !== undefined && `from ${ip}`,
    proxy !== undefined && `through the proxy ${proxy}`,
    means === 'UI' && 'in the dashboard',
  ]
  return all.filter(one => one !== false)
}

/** Names the actor: a person by their address, a token by its name, others by their id. */
function nameOf({ id, email, name, type }: AuditEntry['actor'], pageOf: PageOf): Html {
  if (email !== undefined) return oneLine(email)
  if (type === 'admin') return html`Command line`
  if (type === 'system') return html`Gatehouse`
  if (id === 'stranger') return html`Somebody`
  return linked(pageOf('token', id), oneLine(name ?? id))
}

function whatOf(entry: AuditEntry, pageOf: PageOf): Html {
  const { resource, metadata } = entry
  const { dropped } = metadata
  const proof = proofInWords(entry)
  return html`<div>${deedInWords(entry)}${proof !== null && ` ${proof}`} <span class="hint">${linked(pageOf(resource.type, resource.id), oneLine(resource.name ?? resource.id))}</span>${
    dropped !== undefined &&
    html` <span class="hint">${dropped.count} from ${time(dropped.from)} to ${time(dropped.to)}</span>`
  }</div>`
}

/**
 * Maximum of members of an entry whose values the list shows, and of characters of one; the files have all.
 */
const maxChanges = 4
const maxValueLength = 36

function changedIn(entry: AuditEntry): Html {
  const changes = changesIn(entry)
  const shown = changes.flatMap(change => (change.values ? [changed(change, change.values)] : []))
  const rest = [
    ...changes.flatMap(({ name, values }) => (values ? [] : [name])),
    ...(shown.length > maxChanges ? [`${shown.length - maxChanges} more`] : []),
  ]
  return html`<div class="changes">${shown.slice(0, maxChanges)}${rest.length > 0 && html`<p>${rest.map((one, i) => [broken(i < rest.length - 1 ? `${one},` : one), ' '])}</p>`}</div>`
}

/**
 * Writes the name of a setting, which is broken between words, and only where no line is long enough for it.
 */
function broken(name: string): Html {
  return html`<span class="setting">${name.split(/(?<=_)/).map((word, i) => [i > 0 && html`<wbr>`, word])}</span>`
}

function changed({ name, isList }: Change, { before, after }: NonNullable<Change['values']>): Html {
  const [gone, come] = [before, after].map(shown)
  if (!isList) return html`<p>${name}: <del>${gone!}</del> → <ins>${come!}</ins></p>`
  return html`<p>${name}:${before !== '' && html` − <del>${gone!}</del>`}${after !== '' && html` + <ins>${come!}</ins>`}</p>`
}

/** Writes a value; a time in the format of all pages. */
function shown(text: string): Html {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) ? time(text) : isolated(brief(text, maxValueLength))
}
