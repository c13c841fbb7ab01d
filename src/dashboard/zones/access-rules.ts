// The access rules of a zone in their order, with their numbers of decisions, and controls to move them.

import { type Html, html } from '../../base/text/html.ts'
import { form, notice, isolated } from '../../pages/parts/components.ts'
import { redirectTo } from '../../pages/parts/layout.ts'
import type { PageRequest, View } from '../page/page-request.ts'
import { type FlashMessage, withMessage } from '../page/flash-messages.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { textField } from '../parts/fields.ts'
import { badge, cutPage, pager, pageWith, table } from '../parts/lists.ts'
import { grouped } from '../parts/numbers.ts'
import { brief, time } from '../parts/values.ts'
import { paths } from '../page/paths.ts'
import { type AccessRule, actionBadge, conditionInBrief, type Decider } from './access-rule.ts'
import { crumbsOf, inZone, tabsOf, zoneOf } from './page-data.ts'
import type { Zone } from './zone.ts'

export const showRules = inZone((request, zone) => rulesPage(request, zone))

/** Leads to the list after the form of the order. */
export const showOrder = inZone(async ({ account }, { name }) =>
  redirectTo(paths.accessRules(account.id, name)),
)

export const moveRule = inZone(async (request, zone) => {
  const draft = Draft.of(request.form)
  const rules = await listRules(request)
  const before = rules.result.map(rule => rule.id)
  const move = draft.value(moveField)
  const isByNumber = move === byNumbers
  const [to, id] = isByNumber ? byNumber(draft, before) : byButton(move)
  if (isByNumber && id === null)
    return rulesPage(request, zone, 422, `Both must be numbers from 1 to ${before.length}.`, draft)
  const ids = moved(before, id ?? '', to)
  if (ids === null) return rulesPage(request, zone, 404, 'This rule is no longer there.')
  const path = zoneOf(request, 'access_rules', 'order')
  const changed = await request.api.put(path, { ids }, { ifMatch: draft.etag })
  if (changed.ok) return toRule(request, zone, id!, 'access-rule-moved')
  if (changed.status !== 412) return changed
  return rulesPage(
    request,
    zone,
    412,
    'Somebody else changed the rules meanwhile, so nothing was moved. This is their order now.',
  )
})

/** Leads to a rule in the list, with a sentence about the previous action. */
export async function toRule(request: PageRequest, { name }: Zone, id: string, deed: FlashMessage) {
  const deciders = await request.api.tryGet<Decider[]>(zoneOf(request, 'access_rules', 'hits'))
  const page = deciders.ok ? pageWith(deciders.result.findIndex(rule => rule.id === id)) : 1
  return redirectTo(`${withMessage(paths.accessRules(request.account.id, name), deed, page)}#rule-${id}`)
}

/**
 * The field of the button that moves a rule: the direction and its id; or that both are numbers in fields.
 */
const moveField = 'move'
const byNumbers = 'by number'

type Move = readonly [to: string, id: string | null]

function byButton(move: string): Move {
  const [, to = '', id = null] = /^(up|down|\d{1,3}) ([0-9a-f]{32})$/.exec(move) ?? []
  return [to, id]
}

function byNumber(draft: Draft, ids: readonly string[]): Move {
  const [from, to] = ['from', 'to'].map(name => Number(draft.value(name).trim()))
  return [String(to), ids[to! - 1] === undefined ? null : (ids[from! - 1] ?? null)]
}

/**
 * Returns ids in another order: one moved a step up or down, or to a place from 1; null for an unknown id.
 */
function moved(ids: readonly string[], id: string, to: string): readonly string[] | null {
  const from = ids.indexOf(id)
  if (from < 0) return null
  const at = to === 'up' ? from - 1 : to === 'down' ? from + 1 : Number(to) - 1
  return ids.toSpliced(from, 1).toSpliced(Math.max(0, at), 0, id)
}

/** Reads the API-managed rules, with the tag of their list. */
export function listRules(request: PageRequest) {
  return request.api.get<AccessRule[]>(zoneOf(request, 'access_rules'))
}

/** Reads the deciding parts of a zone, in order, with their numbers of decisions. */
export function listDeciders(request: PageRequest) {
  return request.api.get<Decider[]>(zoneOf(request, 'access_rules', 'hits'))
}

async function rulesPage(
  request: PageRequest,
  zone: Zone,
  status = 200,
  trouble: string | null = null,
  draft = new Draft({}),
) {
  // The tag first: if the list changes between the two, nothing can be moved by what is shown.
  const rules = await listRules(request)
  const deciders = await listDeciders(request)
  const { account } = request
  const mayWrite = request.may('Access Rules Write')
  const { items: visible, info, isAll } = cutPage(deciders.result, request.query)
  const list = paths.accessRules(account.id, zone.name)
  const isPaged = !isAll && mayWrite && rules.result.length > 1
  // Enter in a field presses the first button of a form.
  const all = html`${isPaged && html`<button class="default" name="${moveField}" value="${byNumbers}" tabindex="-1" aria-hidden="true">Move</button>`}${tableOf(request, zone, deciders.result, visible)}${isPaged && numbersForm(draft)}`
  const create = html`<a class="button" href="${paths.newAccessRule(account.id, zone.name)}">Create a rule</a>`
  const order = {
    ...request.frameFor(paths.accessRuleOrder(account.id, zone.name)),
    hidden: { [etagField]: rules.etag ?? '' },
  }
  const view: View = {
    title: 'Access rules',
    crumbs: crumbsOf(request, zone),
    isWide: true,
    status,
    ...(mayWrite && { actions: create }),
    content: html`${tabsOf(request, zone)}${trouble !== null && notice(trouble, 'bad')}
<p class="aside">The first that matches a request decides. Rules of the configuration file are changed there.</p>
${mayWrite && rules.result.length > 1 ? form(order, all, 'ordered') : all}${pager(list, request.query, info)}`,
  }
  return view
}

/** Makes the controls that move a rule further than to its neighbours, also to another page. */
function numbersForm(draft: Draft): Html {
  const number = (name: string, label: string) =>
    textField(draft, { name, label, type: 'number', minimum: 1, isDependent: true })
  return html`<div class="card part"><div class="pair">${number('from', 'Move rule')}${number('to', 'to place')}</div><div class="actions"><button class="plain small" name="${moveField}" value="${byNumbers}">Move</button></div></div>`
}

function tableOf(
  request: PageRequest,
  { name }: Zone,
  deciders: readonly Decider[],
  visible: readonly Decider[],
): Html {
  const { account } = request
  const mayWrite = request.may('Access Rules Write')
  const own = deciders.filter(({ source }) => source === 'api')
  const controls = (rule: Decider) => {
    const at = own.indexOf(rule)
    if (at < 0) return rule.decides === 'rule' ? html`<span class="hint">in the file</span>` : ''
    const says = `rule ${at + 1} of the API`
    return html`<span class="tags controls" data-rule="${rule.id!}" data-place="${at + 1}">${[
      own.length > 1 && mover('up', rule, at === 0, `Move ${says} up`),
      own.length > 1 && mover('down', rule, at === own.length - 1, `Move ${says} down`),
    ]}<a class="button plain small" href="${paths.accessRule(account.id, name, rule.id!)}" aria-label="Edit ${says}">Edit</a><a class="button danger small" href="${paths.deleteAccessRule(account.id, name, rule.id!)}" aria-label="Delete ${says}">Delete…</a></span>`
  }
  const columns = [
    {
      title: 'Does',
      cell: ({ id, source, action }: Decider) =>
        html`<span${source === 'api' && html` id="rule-${id!}"`}>${actionBadge(action)}</span>`,
    },
    { title: 'Where', isName: true, cell: whatOf },
    { title: 'Set by', cell: (rule: Decider) => sourceOf(rule, own) },
    { title: 'Last 24 hours', cell: hitsOf },
    ...(mayWrite ? [{ title: 'Change', cell: controls }] : []),
  ]
  return table('Access rules in their order', columns, visible)
}

function mover(to: 'up' | 'down', { id }: Decider, isLast: boolean, label: string): Html {
  if (isLast) return html`<button class="plain small" disabled aria-label="${label}">${arrows[to]}</button>`
  return html`<button class="plain small" name="${moveField}" value="${to} ${id!}" aria-label="${label}">${arrows[to]}</button>`
}

const arrows = { up: '↑', down: '↓' } as const

function whatOf(rule: Decider): Html {
  if (rule.decides === 'ban') return html`the address is banned`
  if (rule.decides === 'default') return html`no rule matches`
  return html`<div>${conditionInBrief(rule)}${rule.description !== null && html`<p class="hint">${isolated(brief(rule.description))}</p>`}</div>`
}

function sourceOf(rule: Decider, own: readonly Decider[]): Html | string {
  const { decides, source, number } = rule
  if (decides === 'ban') return 'settings'
  if (decides === 'default') return 'settings of the zone'
  if (source === 'api') return html`${badge('API')} <span class="hint">rule ${own.indexOf(rule) + 1}</span>`
  return source === 'zone_file' ? `file, rule ${number}` : `file, rule ${number} of all zones`
}

function hitsOf({ decides, id, hits, last_hit_at: last }: Decider): Html {
  return html`<div id="hits-${id ?? decides}" data-live="10">${grouped(hits)} ${hits === 1 ? 'time' : 'times'}${last !== null && html`<p class="hint">last ${time(last)}</p>`}</div>`
}
