// Handlers of the policies of AI gateways. Changes are of a draft, which is committed as a whole and has one
// entity tag: that of what is in effect, until something is changed.

import { hash } from 'node:crypto'
import { newId } from '../../base/ids/id.ts'
import {
  flawsOfPolicy,
  maxConditionWork,
  maxLength,
  maxPolicies,
  workOf,
} from '../../budgets/policies/compile.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import { auditOf, type Resource } from '../../store/records/audit-entry.ts'
import { routeOwner } from '../../store/records/model-route.ts'
import {
  commitInEffect,
  type Policy,
  type PolicyCommit,
  type PolicyDraft,
  type PolicySet,
  policySetId,
} from '../../store/records/policy.ts'
import type { Gateway } from '../../store/records/records.ts'
import type { Api, Call } from '../api/api-types.ts'
import { findGateway, noGateway } from '../gateways/gateways.ts'
import { type ApiResponse, failure, failures, success } from '../http/envelope.ts'
import { etagOf, unmet } from '../http/precondition.ts'
import { Parameters } from '../http/query.ts'
import { membersSet, updateOf } from '../records/audit.ts'
import { add, pageOfAll, put, type Revised } from '../records/record-handlers.ts'
import { type PolicyState, policyStates, readPolicy, readRollback } from './body.ts'
import { viewCommit, viewDraft, viewPolicy } from './view.ts'

/** To which a gateway may be rolled back, including the one in effect. */
const maxCommits = 20
/** Characters of JSON of the values in an audit entry. */
const maxAudited = 8_000

export async function createPolicy(call: Call, api: Api): Promise<ApiResponse> {
  const read = readPolicy(call.body, null)
  if (!('name' in read)) return failures(read)
  const policy: Policy = { id: newId(), ...read }
  const revised = await revisePolicies(call, api, (set, gateway) => {
    const audit = auditOf(call, 'create', resourceOf(gateway, policy), membersSet(call.body))
    return withDraft(set, [...draftOf(set).policies, policy], policy, audit)
  })
  return 'record' in revised ? success(viewPolicy(policy), tagOf(revised.record)) : revised
}

export async function updatePolicy(call: Call, api: Api): Promise<ApiResponse> {
  const id = call.params.policy_id!
  const read = readPolicy(call.body, id)
  if (!('name' in read)) return failures(read)
  const policy: Policy = { id, ...read }
  const revised = await revisePolicies(call, api, (set, gateway) => {
    const { policies } = draftOf(set)
    const before = policies.find(policy => policy.id === id)
    if (before === undefined) return noPolicy
    const audit = updateOf(call, resourceOf(gateway, policy), viewPolicy(before), viewPolicy(policy))
    const changed = policies.map(one => (one === before ? policy : one))
    return withDraft(set, changed, policy, audit)
  })
  return 'record' in revised ? success(viewPolicy(policy), tagOf(revised.record)) : revised
}

export async function deletePolicy(call: Call, api: Api): Promise<ApiResponse> {
  const id = call.params.policy_id!
  let deleted: Policy | null = null
  const revised = await revisePolicies(call, api, (set, gateway) => {
    const { policies } = draftOf(set)
    deleted = policies.find(policy => policy.id === id) ?? null
    if (deleted === null) return noPolicy
    const audit = auditOf(call, 'delete', resourceOf(gateway, deleted))
    const left = policies.filter(policy => policy.id !== id)
    return { record: { ...set, draft: { ...draftOf(set), policies: left } }, audit }
  })
  return 'record' in revised ? success(viewPolicy(deleted!), tagOf(revised.record)) : revised
}

/** The draft has what a commit would put in effect; without a draft, what is in effect. */
export async function listPolicies(call: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(call.query)
  const page = parameters.page(maxPolicies)
  const state = parameters.choice('state', policyStates)
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const set = await findSet(call, store)
  if ('body' in set) return set
  const tag = tagOf(state === 'draft' ? set : { ...set, draft: null })
  return pageOfAll(policiesIn(set, state), page, viewPolicy, tag)
}

export async function getPolicy(call: Call, { store }: Api): Promise<ApiResponse> {
  const set = await findSet(call, store)
  if ('body' in set) return set
  const policy = draftOf(set).policies.find(({ id }) => id === call.params.policy_id)
  return policy === undefined ? noPolicy : success(viewPolicy(policy), tagOf(set))
}

export async function getPolicyDraft(call: Call, { store }: Api): Promise<ApiResponse> {
  const set = await findSet(call, store)
  if ('body' in set) return set
  return set.draft === null ? noDraft : success(viewDraft(set.draft, set), tagOf(set))
}

export async function discardPolicyDraft(call: Call, api: Api): Promise<ApiResponse> {
  let draft: PolicyDraft | null = null
  const revised = await revisePolicies(call, api, (set, gateway) => {
    draft = set.draft
    if (draft === null) return noDraft
    const audit = auditOf(call, 'delete', resourceOf(gateway), ['draft'])
    return { record: { ...set, draft: null }, audit }
  })
  return 'record' in revised ? success(viewDraft(draft!, revised.record), tagOf(revised.record)) : revised
}

export async function listPolicyCommits(call: Call, { store }: Api): Promise<ApiResponse> {
  const parameters = new Parameters(call.query)
  const page = parameters.page()
  if (parameters.faults.length > 0) return failures(parameters.faults)
  const set = await findSet(call, store)
  return 'body' in set ? set : pageOfAll(set.commits.toReversed(), page, commit => viewCommit(commit, set))
}

/** Puts the draft in effect, unless what is in effect has changed since it began. */
export async function commitPolicies(call: Call, api: Api): Promise<ApiResponse> {
  const revised = await revisePolicies(call, api, (set, gateway) => {
    const { draft } = set
    if (draft === null) return nothingToCommit
    if (draft.base !== (commitInEffect(set)?.id ?? null)) return outdatedDraft
    const faults = faultsOf(draft.policies)
    if (faults.length > 0) return failures(faults)
    return inEffect(call, set, gateway, draft.policies, null)
  })
  return 'record' in revised ? respondWithCommit(revised.record) : revised
}

/** Puts earlier policies in effect again, as a commit of its own; a draft stays as it is. */
export async function rollBackPolicies(call: Call, api: Api): Promise<ApiResponse> {
  const read = readRollback(call.body)
  if (!('to' in read)) return failures(read)
  const revised = await revisePolicies(call, api, (set, gateway) => {
    const commit = set.commits.find(({ id }) => id === read.to)
    return commit === undefined ? noCommit : inEffect(call, set, gateway, commit.policies, set.draft)
  })
  return 'record' in revised ? respondWithCommit(revised.record) : revised
}

/** Finds the policies of the gateway of a path: an empty set if it has none yet. */
export async function findSet(
  { account, params, now }: Call,
  store: Api['store'],
): Promise<PolicySet | ApiResponse> {
  const gateway = await findGateway(store, account, params.gateway_id!)
  if (gateway === null) return noGateway
  const current = await store.policySets.get(routeOwner(gateway), policySetId)
  return current?.record ?? newSet(gateway, now)
}

export function policiesIn(set: PolicySet, state: PolicyState): readonly Policy[] {
  return state === 'draft' ? draftOf(set).policies : (commitInEffect(set)?.policies ?? [])
}

const noPolicy = failure('no_such', 'Policy')
const noCommit = failure('no_such', 'Commit')
const noDraft = failure('no_such', 'Draft of policies')
const nothingToCommit = failure('no_policy_draft')
const outdatedDraft = failure('outdated_policy_draft')

/** Calls `change` again whenever another write came between, if If-Match permits. */
async function revisePolicies(
  call: Call,
  { store, log }: Pick<Api, 'store' | 'log'>,
  change: (set: PolicySet, gateway: Gateway) => Revised<PolicySet>,
): Promise<Revised<PolicySet>> {
  for (;;) {
    const gateway = await findGateway(store, call.account, call.params.gateway_id!)
    if (gateway === null) return noGateway
    const current = await store.policySets.get(routeOwner(gateway), policySetId)
    const set = current?.record ?? newSet(gateway, call.now)
    const revised = unmet(call.ifMatch, revisionOf(set)) ?? change(set, gateway)
    if (!('record' in revised)) return revised
    const { audit } = revised
    const record = { ...revised.record, modifiedAt: call.now }
    const isWritten = current
      ? await put(store.policySets, record, current.version, { audit }, log)
      : await add(store.policySets, record, { audit }, log)
    if (isWritten) return { record, audit }
  }
}

function newSet(gateway: Gateway, now: number): PolicySet {
  return {
    account: routeOwner(gateway),
    id: policySetId,
    commits: [],
    draft: null,
    createdAt: now,
    modifiedAt: now,
  }
}

/** A draft begins with what is in effect. */
function draftOf(set: PolicySet): PolicyDraft {
  const commit = commitInEffect(set)
  return set.draft ?? { base: commit?.id ?? null, policies: commit?.policies ?? [] }
}

function tagOf(set: PolicySet): ApiResponse['headers'] {
  return etagOf(revisionOf(set))
}

function revisionOf(set: PolicySet) {
  const { base, policies } = draftOf(set)
  return { revision: hash('sha256', JSON.stringify([base, policies])).slice(0, 32) }
}

/** Refuses a draft that would have too much, or two policies of one name. */
function withDraft(
  set: PolicySet,
  policies: readonly Policy[],
  changed: Policy,
  audit: ReturnType<typeof auditOf>,
): Revised<PolicySet> {
  if (policies.length > maxPolicies) return failure('too_many_policies', maxPolicies)
  const isTaken = policies.some(({ id, name }) => id !== changed.id && name === changed.name)
  if (isTaken) return failure('policy_taken')
  const fault = sizeFault(policies)
  if (fault !== null) return failures([fault])
  return { record: { ...set, draft: { ...draftOf(set), policies } }, audit }
}

/** Of all policies together. */
function sizeFault(policies: readonly Policy[]): Fault | null {
  if (JSON.stringify(policies).length > maxLength)
    return faultAt('', 'invalid', 'The draft', `must have at most ${maxLength} characters of JSON`)
  const rule = 'of all policies could take too many steps for one call'
  return workOf(policies) > maxConditionWork ? faultAt('/condition', 'invalid', 'condition', rule) : null
}

/** Lists what this version does not understand, in a draft that may be of another one. */
function faultsOf(policies: readonly Policy[]): readonly Fault[] {
  const flaws = policies.flatMap((policy, i) =>
    flawsOfPolicy(policy).map(({ member, rule }) =>
      faultAt(`/policies/${i}/${member}`, 'invalid', `policies[${i}].${member}`, rule),
    ),
  )
  return [...flaws, sizeFault(policies) ?? []].flat()
}

function inEffect(
  call: Call,
  set: PolicySet,
  gateway: Gateway,
  policies: readonly Policy[],
  draft: PolicyDraft | null,
): Revised<PolicySet> {
  const before = commitInEffect(set)
  const commit: PolicyCommit = { id: newId(), policies, createdAt: call.now }
  const audit = auditOf(call, 'deploy', resourceOf(gateway), ['policies'], {
    before: auditedCommit(before),
    after: auditedCommit(commit),
  })
  return { record: { ...set, commits: [...set.commits, commit].slice(-maxCommits), draft }, audit }
}

/** Entries have the policies themselves as long as they are short. */
function auditedCommit(commit: PolicyCommit | null): Readonly<Record<string, unknown>> {
  if (commit === null) return { commit_id: null }
  const policies = commit.policies.map(viewPolicy)
  const isShort = JSON.stringify(policies).length <= maxAudited
  return { commit_id: commit.id, ...(isShort && { policies }) }
}

function respondWithCommit(set: PolicySet): ApiResponse {
  const [before, commit] = [set.commits.at(-2), set.commits.at(-1)!]
  const [had, has] = [before?.policies ?? [], commit.policies].map(({ length }) => length > 0)
  const notice = had === has ? [] : [has ? closes : opens]
  return success(viewCommit(commit, set), tagOf(set), notice)
}

const closes =
  'Policies are now in effect: calls of this gateway that no policy allows are refused (403 policy_forbidden).'
const opens = 'No policies are in effect any more: none of them refuses calls of this gateway.'

/** Policies are named like their gateway, each with its id behind it. */
function resourceOf({ id }: Gateway, policy: Policy | null = null): Resource {
  return policy === null
    ? { resourceKind: 'policies', resource: id }
    : { resourceKind: 'policies', resource: `${id}/${policy.id}`, resourceName: policy.name }
}
