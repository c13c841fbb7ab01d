// Handlers of the pages on which the budgets of a gateway or a token are added, changed, reset and removed.

import { type Html, html } from '../../base/text/html.ts'
import { apiPath, missing } from '../page/api-client.ts'
import { redirectWith } from '../page/flash-messages.ts'
import type { Crumb, Handler, PageRequest, View } from '../page/page-request.ts'
import { Draft, etagField } from '../parts/draft.ts'
import { confirmationPage, draftForm } from '../parts/forms.ts'
import { keyOf } from './bars.ts'
import {
  amountInWords,
  filtersInWords,
  type Rule,
  type RuleBudgets,
  ruleInWords,
  type SpendLimits,
} from './rule.ts'
import {
  newRule,
  type OwnerKind,
  refusedRule,
  ruleFields,
  ruleLabels,
  ruleOf,
  valuesOfRule,
  withContradictions,
} from './rule-form.ts'

/** A gateway or a token in the form of the API, which takes it back whole. */
interface Limited {
  readonly name?: string
  readonly spend_limits?: SpendLimits | null
}

/** Whose budgets pages are about. */
export interface BudgetOwner {
  readonly kind: OwnerKind
  /** The path of the owner in the API. */
  readonly resourceOf: (request: PageRequest) => string
  /** The page that lists the budgets. */
  readonly pageOf: (request: PageRequest) => string
  /** A page below it. */
  readonly pathOf: (request: PageRequest, ...below: readonly string[]) => string
  readonly crumbsOf: (request: PageRequest, owner: Limited) => readonly Crumb[]
}

const maxRules = { gateway: 20, token: 5 } as const satisfies Record<OwnerKind, number>

/** Returns the rules of an owner, in their order. */
export function rulesOf({ spend_limits: limits }: Limited): readonly Rule[] {
  return limits?.rules ?? []
}

/** Makes the handlers of all pages that change the budgets of such owners. */
export function budgetEditing(owner: BudgetOwner) {
  return {
    showNewBudget: (async request => {
      const { result, etag } = await find(owner, request)
      return ruleView(owner, request, result, null, new Draft({ ...newRule, [etagField]: etag ?? '' }))
    }) satisfies Handler,

    addBudget: (async request => {
      const { result: limited } = await find(owner, request)
      return save(owner, request, limited, null)
    }) satisfies Handler,

    showBudgetForm: (async request => {
      const { result, etag } = await find(owner, request)
      const rule = ruleIn(result, request)
      const draft = new Draft({ ...valuesOfRule(rule), [etagField]: etag ?? '' })
      return ruleView(owner, request, result, rule, draft)
    }) satisfies Handler,

    changeBudget: (async request => {
      const { result: limited } = await find(owner, request)
      return save(owner, request, limited, ruleIn(limited, request))
    }) satisfies Handler,

    confirmBudgetDeletion: (async request => {
      const { result, etag } = await find(owner, request)
      return deletionView(owner, request, result, new Draft({ [etagField]: etag ?? '' }))
    }) satisfies Handler,

    deleteBudget: (async request => {
      const { result: limited, etag } = await find(owner, request)
      const rule = ruleIn(limited, request)
      const rules = rulesOf(limited).filter(({ id }) => id !== rule.id)
      const draft = Draft.of(request.form)
      const changed = await put(owner, request, limited, rules, draft)
      if (changed.ok) return redirectWith(owner.pageOf(request), 'budget-deleted')
      if (changed.status === 404) return changed
      const again = changed.status === 412 ? draft.overtaken({}, etag) : draft.refused(changed)
      return deletionView(owner, request, limited, again)
    }) satisfies Handler,

    confirmBudgetReset: (request => resetView(owner, request, new Draft())) satisfies Handler,

    resetBudget: (async request => {
      const path = owner.resourceOf(request) + apiPath('budgets', request.params.budget!, 'reset')
      const reset = await request.api.post(path)
      if (reset.ok) return redirectWith(owner.pageOf(request), 'budget-reset')
      return reset.status === 404 ? reset : resetView(owner, request, new Draft().refused(reset))
    }) satisfies Handler,
  }
}

function find(owner: BudgetOwner, request: PageRequest) {
  return request.api.get<Limited>(owner.resourceOf(request))
}

/** Returns the rule of the path, or refuses the request. */
function ruleIn(limited: Limited, { params }: PageRequest): Rule {
  return rulesOf(limited).find(({ id }) => id === params.budget) ?? missing()
}

/** Replaces the owner with these rules: the API takes it whole. */
function put(
  owner: BudgetOwner,
  { api, ...request }: PageRequest,
  limited: Limited,
  rules: readonly unknown[],
  draft: Draft,
) {
  const enabled = limited.spend_limits?.enabled ?? true
  const body = { ...limited, spend_limits: { enabled, rules } }
  return api.put<Limited>(owner.resourceOf({ api, ...request }), body, { ifMatch: draft.etag })
}

async function save(owner: BudgetOwner, request: PageRequest, limited: Limited, rule: Rule | null) {
  const rules = rulesOf(limited)
  const draft = withContradictions(Draft.of(request.form))
  if (draft.status === 422) return ruleView(owner, request, limited, rule, draft)
  const made = ruleOf(draft, owner.kind, rule)
  const place = rule === null ? rules.length : rules.indexOf(rule)
  if (place === maxRules[owner.kind])
    return ruleView(owner, request, limited, rule, draft.withFault('', full(owner.kind)))
  const changed = await put(owner, request, limited, rules.toSpliced(place, 1, made as Rule), draft)
  if (changed.ok)
    return redirectWith(owner.pageOf(request), rule === null ? 'budget-added' : 'budget-changed')
  if (changed.status === 404) return changed
  if (changed.status !== 412)
    return ruleView(owner, request, limited, rule, refusedRule(draft, changed, place))
  const { etag } = await find(owner, request)
  const shown = rule === null ? {} : { enabled: '', ...valuesOfRule(rule) }
  return ruleView(owner, request, limited, rule, draft.overtaken(shown, etag))
}

function full(kind: OwnerKind): string {
  return `A ${kind} has up to ${maxRules[kind]} budgets: change or remove one of them.`
}

function ruleView(
  owner: BudgetOwner,
  request: PageRequest,
  limited: Limited,
  rule: Rule | null,
  draft: Draft,
): View {
  return {
    title: rule === null ? 'Add a budget' : 'Edit this budget',
    crumbs: owner.crumbsOf(request, limited),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: ruleLabels,
        send: rule === null ? 'Add the budget' : 'Save',
        cancel: owner.pageOf(request),
      },
      html`${rule !== null && html`<p class="hint">With another limit, or other calls that count, it keeps what is spent. With another time, or if it limits or separates something else, it begins at 0.</p>`}${ruleFields(draft, owner.kind, rule)}`,
    ),
  }
}

function deletionView(owner: BudgetOwner, request: PageRequest, limited: Limited, draft: Draft): View {
  const rule = ruleIn(limited, request)
  return confirmationPage({
    title: 'Remove this budget?',
    crumbs: owner.crumbsOf(request, limited),
    frame: request.frameFor(request.path),
    draft,
    what: html`${ruleParagraph(rule)}<p>Calls are not held to it any more, within a second.</p>`,
    send: 'Remove the budget',
    cancel: owner.pageOf(request),
  })
}

/** Confirms for a rule with all its budgets, or for one of these, by the id of either. */
async function resetView(owner: BudgetOwner, request: PageRequest, draft: Draft): Promise<View> {
  const [{ result: limited }, { result: all }] = await Promise.all([
    find(owner, request),
    request.api.get<readonly RuleBudgets[]>(owner.resourceOf(request) + apiPath('budgets')),
  ])
  const id = request.params.budget
  const isOf = ({ rule, budgets }: RuleBudgets) => rule.id === id || budgets.some(one => one.id === id)
  const { rule, budgets } = all.find(isOf) ?? missing()
  const bucket = budgets.length === 1 ? budgets[0] : budgets.find(one => one.id === id)
  return confirmationPage({
    title: 'Start over?',
    crumbs: owner.crumbsOf(request, limited),
    frame: request.frameFor(request.path),
    draft,
    what: html`${ruleParagraph(rule)}<p>${
      bucket === undefined
        ? html`The <b>${budgets.length}</b> budgets that are listed for it begin at 0 again.`
        : html`${bucket.key.length > 0 && html`<b>${keyOf(bucket)}</b>: `}<b>${amountInWords(rule.limitType, bucket.spent)}</b> is spent, and it begins at 0 again.`
    } What calls under way have reserved stays. The audit log says who did this.</p>`,
    send: 'Start over',
    cancel: owner.pageOf(request),
  })
}

function ruleParagraph(rule: Rule): Html {
  return html`<p><b>${ruleInWords(rule)}</b>. <span class="long">${filtersInWords(rule)}</span></p>`
}
