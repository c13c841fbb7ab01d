// What puts policies in effect: the draft, or an earlier commit; and the end of a draft.

import { isDeepStrictEqual } from 'node:util'
import { html } from '../../../base/text/html.ts'
import { missing } from '../../page/api-client.ts'
import { redirectWith } from '../../page/flash-messages.ts'
import type { Handler, PageRequest, View } from '../../page/page-request.ts'
import { Draft, etagField } from '../../parts/draft.ts'
import { confirmationPage } from '../../parts/forms.ts'
import { time } from '../../parts/values.ts'
import type { Policy } from './policy.ts'
import { crumbsOfPolicies, findCommit, findPolicies, policiesOf, policiesPath } from './policy-data.ts'
import { differences } from './policy-list.ts'

export const confirmCommit: Handler = request => commitView(request, new Draft())

export const commitPolicies: Handler = async request => {
  const draft = Draft.of(request.form)
  // What was confirmed is in effect then, and nothing else.
  const committed = await request.api.post(policiesOf(request, 'commit'), undefined, {
    ifMatch: draft.etag ?? '',
  })
  if (committed.ok) return redirectWith(policiesPath(request), 'policies-committed')
  if (committed.status === 412) return commitView(request, draft.overtaken({}, null))
  return committed.status === 404 ? committed : commitView(request, draft.refused(committed))
}

async function commitView(request: PageRequest, draft: Draft): Promise<View> {
  const { next, committed, draft: changes, tag } = await findPolicies(request)
  if (changes === null) return missing()
  return confirmationPage({
    title: 'Commit this draft?',
    crumbs: crumbsOfPolicies(request),
    frame: request.frameFor(request.path),
    draft: draft.with({ [etagField]: tag }),
    what: html`${differences(next, committed, changes)}<p>Calls are decided by it within a second. ${warningOf(next, committed)}</p>`,
    send: 'Commit the draft',
    cancel: policiesPath(request),
  })
}

/** Describes what becomes of calls that no policy allows. */
function warningOf(next: readonly Policy[], committed: readonly Policy[]) {
  if (next.length === 0) return 'Without policies, none refuses calls.'
  return committed.length === 0
    ? html`<b>From then on, calls that no policy allows are refused.</b>`
    : 'Calls that no policy allows are refused, as before.'
}

export const confirmDiscard: Handler = async request => {
  const { next, committed, draft: changes } = await findPolicies(request)
  if (changes === null) return missing()
  return confirmationPage({
    title: 'Discard this draft?',
    crumbs: crumbsOfPolicies(request),
    frame: request.frameFor(request.path),
    what: html`<p>These changes are lost. What is in effect stays.</p>${differences(next, committed, changes)}`,
    send: 'Discard the draft',
    cancel: policiesPath(request),
  })
}

export const discardDraft: Handler = async request => {
  const discarded = await request.api.delete(policiesOf(request, 'draft'))
  return discarded.ok ? redirectWith(policiesPath(request), 'policies-discarded') : discarded
}

export const confirmRollback: Handler = async request => {
  const [{ created_at: at, policies }, { committed, draft }] = await Promise.all([
    findCommit(request),
    findPolicies(request),
  ])
  return confirmationPage({
    title: 'Roll back?',
    crumbs: crumbsOfPolicies(request),
    frame: request.frameFor(request.path),
    what: html`<p>The policies of ${time(at)} are in effect again within a second:</p>${differences(policies, committed, changesBetween(committed, policies))}<p>${warningOf(policies, committed)}${draft !== null && ' The draft stays, and is outdated.'}</p>`,
    send: 'Roll back',
    cancel: policiesPath(request),
  })
}

export const rollBack: Handler = async request => {
  const rolled = await request.api.post(policiesOf(request, 'rollback'), { to: request.params.commit })
  return rolled.ok ? redirectWith(policiesPath(request), 'policies-rolled-back') : rolled
}

function changesBetween(before: readonly Policy[], after: readonly Policy[]) {
  const [former, next] = [before, after].map(policies => new Map(policies.map(one => [one.id, one])))
  const ids = [...next!.keys()]
  return {
    added: ids.filter(id => !former!.has(id)),
    changed: ids.filter(id => former!.has(id) && !isDeepStrictEqual(former!.get(id), next!.get(id))),
    removed: [...former!.keys()].filter(id => !next!.has(id)),
  }
}
