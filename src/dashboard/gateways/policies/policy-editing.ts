// Changes of the draft of policies: one is added, changed or removed.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft } from '../../parts/draft.ts'
import { confirmationPage, draftForm } from '../../parts/forms.ts'
import { findGateway } from '../page-data.ts'
import { type Policy, policyInWords } from './policy.ts'
import { crumbsOfPolicies, findPolicy, policiesOf, policiesPath } from './policy-data.ts'
import {
  newPolicy,
  policyFields,
  policyLabels,
  policyOf,
  refusedPolicy,
  valuesOfPolicy,
} from './policy-form.ts'

export const showNewPolicy: Handler = async request => {
  await findGateway(request)
  return policyView(request, null, new Draft(newPolicy))
}

export const addPolicy: Handler = async request => {
  const draft = Draft.of(request.form)
  const added = await request.api.post<Policy>(policiesOf(request), policyOf(draft, null))
  if (added.ok) return redirectWith(policiesPath(request), 'policy-added')
  return added.status === 404 ? added : policyView(request, null, refusedPolicy(draft, added))
}

export const showPolicy: Handler = async request => {
  const policy = await findPolicy(request)
  return policyView(request, policy, new Draft(valuesOfPolicy(policy)))
}

export const changePolicy: Handler = async request => {
  const policy = await findPolicy(request)
  const draft = Draft.of(request.form)
  const changed = await request.api.put<Policy>(policiesOf(request, policy.id), policyOf(draft, policy))
  if (changed.ok) return redirectWith(policiesPath(request), 'policy-changed')
  return changed.status === 404 ? changed : policyView(request, policy, refusedPolicy(draft, changed))
}

export const confirmPolicyRemoval: Handler = async request => {
  const policy = await findPolicy(request)
  return confirmationPage({
    title: 'Remove this policy?',
    crumbs: crumbsOfPolicies(request),
    frame: request.frameFor(request.path),
    what: html`<p><b>${isolated(policy.name)}</b>: <span class="long">${policyInWords(policy)}.</span></p><p>It is removed from the draft, and decides calls until that is committed.</p>`,
    send: 'Remove the policy',
    cancel: policiesPath(request),
  })
}

export const removePolicy: Handler = async request => {
  const removed = await request.api.delete(policiesOf(request, request.params.policy!))
  return removed.ok ? redirectWith(policiesPath(request), 'policy-removed') : removed
}

function policyView(request: PageRequest, policy: Policy | null, draft: Draft): View {
  const remove =
    policy === null
      ? null
      : html`<a class="button danger" href="${policiesPath(request, policy.id, 'delete')}">Remove…</a>`
  return {
    title: policy === null ? 'Add a policy' : 'Edit this policy',
    crumbs: crumbsOfPolicies(request),
    status: draft.status,
    content: draftForm(
      {
        frame: request.frameFor(request.path),
        draft,
        labels: policyLabels,
        send: policy === null ? 'Add to the draft' : 'Save in the draft',
        cancel: policiesPath(request),
        ...(remove !== null && { beside: remove }),
      },
      policyFields(draft),
    ),
  }
}
