// Changes of the draft of policies: one is added, changed or removed.

import { html } from '../../../base/text/html.ts'
import { isolated } from '../../../pages/parts/components.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft, etagField } from '../../parts/draft.ts'
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
  const { policy, etag } = await findPolicy(request)
  return policyView(request, policy, new Draft({ ...valuesOfPolicy(policy), [etagField]: etag }))
}

export const changePolicy: Handler = async request => {
  const { policy, etag } = await findPolicy(request)
  const draft = Draft.of(request.form)
  const path = policiesOf(request, policy.id)
  const changed = await request.api.put<Policy>(path, policyOf(draft, policy), { ifMatch: draft.etag ?? '' })
  if (changed.ok) return redirectWith(policiesPath(request), 'policy-changed')
  if (changed.status === 412)
    return policyView(request, policy, draft.overtaken(valuesOfPolicy(policy), etag))
  return changed.status === 404 ? changed : policyView(request, policy, refusedPolicy(draft, changed))
}

export const confirmPolicyRemoval: Handler = request => removalView(request, new Draft())

async function removalView(request: PageRequest, draft: Draft): Promise<View> {
  const { policy, etag } = await findPolicy(request)
  return confirmationPage({
    title: 'Remove this policy?',
    crumbs: crumbsOfPolicies(request),
    frame: request.frameFor(request.path),
    draft: draft.with({ [etagField]: etag }),
    what: html`<p><b>${isolated(policy.name)}</b>: <span class="long">${policyInWords(policy)}.</span></p><p>It is removed from the draft, and decides calls until that is committed.</p>`,
    send: 'Remove the policy',
    cancel: policiesPath(request),
  })
}

export const removePolicy: Handler = async request => {
  const draft = Draft.of(request.form)
  const path = policiesOf(request, request.params.policy!)
  const removed = await request.api.delete(path, { ifMatch: draft.etag ?? '' })
  if (removed.ok) return redirectWith(policiesPath(request), 'policy-removed')
  return removed.status === 412 ? removalView(request, draft.overtaken({}, null)) : removed
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
