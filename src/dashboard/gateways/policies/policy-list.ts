// The policies of a gateway: the draft, how it differs from what is in effect, and earlier ones.

import { type Html, html } from '../../../base/text/html.ts'
import { isolated, notice } from '../../../pages/parts/components.ts'
import type { Handler, PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { badge, emptyState, table } from '../../parts/lists.ts'
import { nextStep, stepLink } from '../../parts/next-step.ts'
import { brief, time } from '../../parts/values.ts'
import { crumbsOf } from '../page-data.ts'
import { type Policy, type PolicyCommit, type PolicyDraft, policyInWords } from './policy.ts'
import { spentCard } from './policy-budgets.ts'
import { findCommits, findPolicies, findSpending, type Policies, policiesPath } from './policy-data.ts'

export const showPolicies: Handler = async request => {
  const [policies, commits, spending] = await Promise.all([
    findPolicies(request),
    findCommits(request),
    findSpending(request),
  ])
  const mayEdit = request.may('AI Gateway Edit')
  const add = stepLink(policiesPath(request, '~new'), 'Add a policy')
  const guide = html`<a href="${paths.guide(request.account.id, 'policies')}">Policies</a>`
  const isEmpty = policies.next.length === 0 && policies.draft === null && commits.length === 0
  return {
    title: 'Policies',
    crumbs: crumbsOf(request, true),
    isWide: true,
    ...(!isEmpty && { actions: html`${tryLink(request)}${mayEdit && add}` }),
    content: isEmpty
      ? emptyState(
          'No policies yet',
          html`Policies say who may call which models, and for how much. They are written as a draft, which changes nothing until it is committed. From the first commit on, calls that no policy allows are refused. ${guide} has the details.`,
          nextStep(request, 'AI Gateway Edit', add),
        )
      : html`${draftCard(request, policies, mayEdit)}${policyTable(request, policies, mayEdit)}${spentCard(spending)}${commitTable(request, commits, mayEdit)}`,
  }
}

function tryLink(request: PageRequest): Html {
  return html`<a class="button plain" href="${policiesPath(request, '~simulate')}">Try a call</a>`
}

function draftCard(request: PageRequest, { next, committed, draft }: Policies, mayEdit: boolean): Html {
  if (draft === null)
    return html`<p class="aside">${
      committed.length === 0
        ? 'No policies are in effect: none of them refuses calls.'
        : 'These are in effect: calls that none of them allows are refused.'
    }</p>`
  const commit = html`<a class="button" href="${policiesPath(request, '~commit')}">Commit…</a>`
  return html`<section class="card" aria-labelledby="draft"><h2 id="draft">Draft</h2>${
    draft.outdated &&
    notice('Something else was committed meanwhile: discard this draft, and make its changes again.', 'bad')
  }<p class="hint">Calls are decided as before until it is committed.</p>${differences(next, committed, draft)}${
    mayEdit &&
    html`<div class="actions">${!draft.outdated && commit}<a class="button plain" href="${policiesPath(request, '~discard')}">Discard…</a></div>`
  }</section>`
}

/** Lists in words what becomes of policies. */
export function differences(
  next: readonly Policy[],
  committed: readonly Policy[],
  { added, changed, removed }: Omit<PolicyDraft, 'outdated'>,
): Html {
  const [after, before] = [byId(next), byId(committed)]
  const line = (word: string, policy: Policy | undefined, former: Policy | null = null) =>
    policy &&
    html`<li class="long"><b>${word} ${isolated(policy.name)}</b>: ${brief(policyInWords(policy), maxLength)}${
      former !== null &&
      html` <span class="hint">Before: ${brief(wordsBefore(former, policy), maxLength)}</span>`
    }</li>`
  const lines = [
    ...added.map(id => line('Added', after.get(id))),
    ...changed.map(id => line('Changed', after.get(id), before.get(id))),
    ...removed.map(id => line('Removed', before.get(id))),
  ].flatMap(line => line ?? [])
  if (lines.length === 0) return html`<p>Nothing differs from what is in effect.</p>`
  return html`<ul class="plain-list changes">${lines}</ul>`
}

function wordsBefore(former: Policy, { name }: Policy): string {
  return former.name === name ? policyInWords(former) : `${former.name}: ${policyInWords(former)}`
}

/** Characters of one policy in words. */
const maxLength = 300

function byId(policies: readonly Policy[]): ReadonlyMap<string, Policy> {
  return new Map(policies.map(policy => [policy.id, policy]))
}

function policyTable(request: PageRequest, { next, draft }: Policies, mayEdit: boolean): Html {
  if (next.length === 0) return html`<p class="aside">The draft has no policies: committed, none decides.</p>`
  const columns = [
    {
      title: 'Policy',
      isName: true,
      cell: ({ id, name }: Policy) =>
        mayEdit
          ? html`<a href="${policiesPath(request, id)}"><span class="long">${isolated(name)}</span></a>`
          : html`<span class="long">${isolated(name)}</span>`,
    },
    {
      title: 'Says',
      cell: (policy: Policy) =>
        html`<span class="says long">${brief(policyInWords(policy), maxLength)}</span>`,
    },
    { title: 'State', cell: ({ id }: Policy) => stateOf(id, draft) },
  ]
  return table(draft === null ? 'Policies in effect' : 'Policies of the draft', columns, next)
}

function stateOf(id: string, draft: PolicyDraft | null): Html {
  if (draft?.added.includes(id)) return badge('new')
  return draft?.changed.includes(id) ? badge('changed') : badge('in effect', 'good')
}

function commitTable(request: PageRequest, commits: readonly PolicyCommit[], mayEdit: boolean): Html | null {
  if (commits.length === 0) return null
  const columns = [
    { title: 'Committed', isName: true, cell: ({ created_at }: PolicyCommit) => time(created_at) },
    {
      title: 'Policies',
      cell: ({ policies }: PolicyCommit) =>
        html`<span class="says long">${policies.length === 0 ? 'none' : brief(policies.map(({ name }) => name).join(', '), maxLength)}</span>`,
    },
    {
      title: 'State',
      cell: ({ id, active, created_at }: PolicyCommit) =>
        active
          ? badge('in effect', 'good')
          : html`${mayEdit && html`<a class="button plain small" href="${policiesPath(request, '~commits', id)}">Roll back…<span class="unseen"> to ${created_at}</span></a>`}`,
    },
  ]
  return html`<h2 class="over">Commits</h2>${table('Commits, newest first', columns, commits)}`
}
