// The error rules and error pages of a zone, and the order of the rules.

import { type Html, type HtmlValue, html } from '../../base/text/html.ts'
import { form, isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import { apiPath } from '../page/api-client.ts'
import type { PageRequest, Handler } from '../page/page-request.ts'
import { withMessage } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { badge, cutPage, pager, pageWith, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { brief, time } from '../parts/values.ts'
import { nextStep } from '../parts/next-step.ts'
import { paths } from '../page/paths.ts'
import { errorCrumbs, type ErrorPage, findZone, type RankedRule, type Rule, type Zone } from './page-data.ts'
import { type PageType, pageTypes } from './page-types.ts'

export const showZone: Handler = async request => {
  const zone = await findZone(request)
  const of = (...steps: string[]) => apiPath('zones', zone.result.id, ...steps)
  const [ranked, rules, pages] = await Promise.all([
    request.api.get<RankedRule[]>(of('error_rules', 'hits')),
    request.api.get<Rule[]>(of('error_rules')),
    request.api.get<ErrorPage[]>(of('error_pages')),
  ])
  const mayWrite = request.may('Custom Errors Write')
  return {
    title: zone.result.id,
    crumbs: errorCrumbs(request),
    isWide: true,
    ...(request.may('Zones Read') && {
      actions: html`<a class="button plain small" href="${paths.zone(request.account.id, zone.result.id)}">The zone</a>`,
    }),
    content: html`<p class="lead">What clients of this zone get in place of the error pages of Gatehouse.</p>
<section aria-labelledby="rules"><div class="head apart"><h2 id="rules">Rules</h2>${mayWrite && html`<a class="button small" href="${paths.newErrorRule(request.account.id, zone.result.id)}">Add a rule</a>`}</div>
<p class="hint">The first rule that matches an error decides. Where none does, a page below is served.</p>${rulesPart(request, ranked.result, rules.etag)}</section>
<section aria-labelledby="pages"><h2 class="apart" id="pages">Pages</h2><p class="hint">HTML for people; programs and agents get the formats of Gatehouse unless a rule says otherwise.</p>${pageTable(request, zone.result, pages.result)}</section>`,
  }
}

/** Moves one rule up or down, if the rules are still those of the form. */
export const orderRules: Handler = async request => {
  const zone = await findZone(request)
  const path = apiPath('zones', zone.result.id, 'error_rules')
  const rules = await request.api.get<Rule[]>(path)
  const ids = rules.result.map(({ id }) => id)
  const up = ids.indexOf(request.form.get('up') ?? '')
  const down = ids.indexOf(request.form.get('down') ?? '')
  // Each moves one of two neighbours past the other.
  const at = up > 0 ? up - 1 : down
  const page = paths.errorZone(request.account.id, zone.result.id)
  if (at < 0 || at + 1 >= ids.length) return redirectTo(page)
  const order = ids.with(at, ids[at + 1]!).with(at + 1, ids[at]!)
  const ordered = await request.api.put(
    `${path}/order`,
    { ids: order },
    { ifMatch: Draft.of(request.form).etag },
  )
  if (!ordered.ok) return ordered
  const ranked = await request.api.tryGet<RankedRule[]>(`${path}/hits`)
  const moved = order[up > 0 ? at : at + 1]
  const place = ranked.ok ? pageWith(ranked.result.findIndex(({ id }) => id === moved)) : 1
  return redirectTo(`${withMessage(page, 'error-rules-ordered', place)}#rules`)
}

function rulesPart(request: PageRequest, rules: readonly RankedRule[], etag: string | null): Html {
  if (rules.length === 0)
    return html`<div class="card empty"><h3>No rules yet</h3><p>A rule serves your own text, JSON or HTML for errors that its expression matches.</p><div class="step">${nextStep(request, 'Custom Errors Write', html``)}</div></div>`
  const isMovable =
    request.may('Custom Errors Write') && rules.filter(({ source }) => source === 'api').length > 1
  const { account, params } = request
  const { items: visible, info } = cutPage(rules, request.query)
  const list = table('Error rules in order', columnsOf(request, rules, isMovable), visible)
  const links = pager(paths.errorZone(account.id, params.zone!), request.query, info)
  if (!isMovable) return html`${list}${links}`
  const path = paths.orderErrorRules(account.id, params.zone!)
  return html`${form({ ...request.frameFor(path), hidden: { [etagField]: etag ?? '' } }, list)}${links}`
}

function columnsOf(request: PageRequest, rules: readonly RankedRule[], isMovable: boolean) {
  const own = rules.filter(({ source }) => source === 'api')
  const columns = [
    { title: 'No.', isNumber: true, cell: (rule: RankedRule) => rules.indexOf(rule) + 1 },
    { title: 'Rule', isName: true, cell: (rule: RankedRule) => nameOf(request, rule) },
    {
      title: 'Serves',
      cell: ({ content_type, status_code }: RankedRule) =>
        html`${content_type}${status_code !== null && ` as ${status_code}`}`,
    },
    { title: 'Set', cell: (rule: RankedRule) => sourceInWords(rule) },
    {
      title: 'Used today',
      isNumber: true,
      cell: ({ hits, last_hit_at }: RankedRule) =>
        html`${grouped(hits)}${last_hit_at !== null && html` <span class="hint">${time(last_hit_at)}</span>`}`,
    },
  ]
  if (!isMovable) return columns
  const cell = (rule: RankedRule) => movesOf(rule, own)
  return [...columns, { title: 'Order', cell }]
}

function nameOf({ account, params }: PageRequest, rule: RankedRule): Html {
  const { id, source, description, expression } = rule
  const name = description === null ? html`<code>${brief(expression)}</code>` : isolated(brief(description))
  const link =
    source === 'api' ? html`<a href="${paths.errorRule(account.id, params.zone!, id)}">${name}</a>` : name
  return html`<span class="long">${link}${description !== null && html`<br><code class="hint">${brief(expression)}</code>`}</span>`
}

function sourceInWords({ source, number }: RankedRule): HtmlValue {
  if (source === 'api') return 'here'
  return source === 'zone_file'
    ? `in the file, for the zone, no. ${number}`
    : `in the file, for all zones, no. ${number}`
}

function movesOf(rule: RankedRule, own: readonly RankedRule[]): HtmlValue {
  const at = own.indexOf(rule)
  if (at < 0) return null
  const name = brief(rule.description ?? rule.expression)
  const move = (direction: 'up' | 'down', text: string, isEnd: boolean) =>
    html`<button class="plain small" name="${direction}" value="${rule.id}"${isEnd && html` disabled`}>${text}<span class="unseen"> ${name}</span></button>`
  return html`<span class="tags">${move('up', 'Up', at === 0)}${move('down', 'Down', at === own.length - 1)}</span>`
}

function pageTable({ account }: PageRequest, zone: Zone, pages: readonly ErrorPage[]): Html {
  const byType = new Map(pages.map(page => [page.type, page]))
  const columns = [
    {
      title: 'For',
      isName: true,
      cell: ({ type, title, text }: PageType) =>
        html`<div><a href="${paths.errorPage(account.id, zone.id, type)}">${title}</a><p class="hint">${text}</p></div>`,
    },
    {
      title: 'Page',
      cell: ({ type }: PageType) => {
        const page = byType.get(type)
        if (page !== undefined) return html`${badge('yours', 'good')} ${sizeInWords(page)}`
        return zone.errors.file_pages.includes(type) ? badge('in the file') : 'none of its own'
      },
    },
    { title: 'Changed', cell: ({ type }: PageType) => time(byType.get(type)?.modified_at, '') },
  ]
  return table('Error pages by kind', columns, pageTypes)
}

export function sizeInWords({ size }: ErrorPage): string {
  return size < 1024 ? `${size} bytes` : `${Math.ceil(size / 1024)} KiB`
}
