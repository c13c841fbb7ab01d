// Lists: as a table, with links to the rest of it, or with advice if it is empty.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import { makeInTurns } from '../../base/turns/map-in-turns.ts'
import type { ListInfo } from '../page/api-client.ts'
import { withQuery } from '../page/paths.ts'

interface Column<T> {
  readonly title: string
  readonly cell: (item: T) => HtmlValue
  readonly isName?: boolean
  /** Whether it contains figures, which are aligned at their ends. */
  readonly isNumber?: boolean
}

/**
 * Makes a table; on narrow screens each row becomes a block, with the titles of the columns beside the
 * values.
 */
export function table<T>(caption: string, columns: readonly Column<T>[], items: readonly T[]): Html {
  const rows = items.map(item => row(columns, item))
  return tableOf(caption, columns, rows)
}

/** Like `table`, for many items. */
export async function longTable<T>(
  caption: string,
  columns: readonly Column<T>[],
  items: readonly T[],
): Promise<Html> {
  const rows = await makeInTurns(items, item => row(columns, item))
  return tableOf(caption, columns, rows)
}

function tableOf<T>(caption: string, columns: readonly Column<T>[], rows: readonly Html[]): Html {
  return html`<table><caption>${caption}</caption>
<thead><tr>${columns.map(({ title, isNumber }) => html`<th scope="col"${isNumber === true && html` class="number"`}>${title}</th>`)}</tr></thead>
<tbody>
${rows}</tbody></table>`
}

function row<T>(columns: readonly Column<T>[], item: T): Html {
  return html`<tr>${columns.map(column => cell(column, item))}</tr>
`
}

function cell<T>({ title, cell, isName, isNumber }: Column<T>, item: T): Html {
  const looks = isNumber === true && html` class="number"`
  if (isName === true) return html`<th scope="row" data-title="${title}"${looks}>${cell(item)}</th>`
  return html`<td data-title="${title}"${looks}>${cell(item)}</td>`
}

/** Items per page of a list that the API returns whole: each may be long. */
const onAPage = 20

/** Cuts out the page of a list that the query requests, the last one at most. */
export function cutPage<T>(all: readonly T[], query: URLSearchParams) {
  const number = Number(query.get('page') ?? 1)
  const last = pageWith(all.length - 1)
  const page = Number.isInteger(number) ? Math.max(1, Math.min(number, last)) : 1
  const visible = all.slice((page - 1) * onAPage, page * onAPage)
  const info: ListInfo = { page, per_page: onAPage, count: visible.length, total_count: all.length }
  return { items: visible, info, isAll: visible.length === all.length }
}

/** Returns the page of an item, by its index; the first if there is none. */
export function pageWith(index: number): number {
  return Math.floor(Math.max(0, index) / onAPage) + 1
}

/** Makes the links to the pages before and after this one, with its range; empty if this is the only one. */
export function pager(
  path: string,
  query: URLSearchParams,
  { page, per_page, count, total_count }: ListInfo,
): Html | null {
  const pages = Math.ceil(total_count / per_page)
  if (pages <= 1 && page <= 1) return null
  const { done, ...filters } = Object.fromEntries(query)
  const link = (to: number, text: string, rel: string) =>
    html`<a class="button plain small" rel="${rel}" href="${withQuery(path, { ...filters, page: to > 1 ? String(to) : null })}">${text}</a>`
  const first = (page - 1) * per_page + 1
  const visible = count === 0 ? 'None' : `${first} to ${first + count - 1}`
  return html`<nav class="pager" aria-label="Pages">${page > 1 && link(Math.min(page - 1, pages), 'Previous', 'prev')}<p>${visible} of ${total_count}</p>${page < pages && link(page + 1, 'Next', 'next')}</nav>`
}

/** Makes the replacement of an empty list: what it would contain, and what to do first. */
export function emptyState(title: string, text: HtmlValue, action: Html | null = null): Html {
  return html`<div class="card empty"><h2>${title}</h2><p>${text}</p>${action !== null && html`<div class="step">${action}</div>`}</div>`
}

/** Makes words in frames beside each other, which stay separate words without the frames. */
export function badges(list: readonly Html[]): Html {
  return html`${list.map((one, i) => html`${i > 0 && ' '}${one}`)}`
}

/** Makes a word in a frame: the state of something. */
export function badge(text: string, kind: 'good' | 'bad' | '' = ''): Html {
  return html`<span class="tag ${kind}">${text}</span>`
}
