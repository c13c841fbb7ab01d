// The requests of the pages of policies to the management API.

import { isOutage, missing, Refusal } from '../../page/api-client.ts'
import type { PageRequest } from '../../page/page-request.ts'
import { paths } from '../../page/paths.ts'
import { crumbsOf, gatewayOf } from '../page-data.ts'
import type { PolicyBudgets } from './policy-budgets.ts'
import type { Policy, PolicyCommit, PolicyDraft } from './policy.ts'

/** Returns the API path of the policies of the page's gateway, or one below it. */
export function policiesOf(request: PageRequest, ...below: readonly string[]): string {
  return gatewayOf(request, 'policies', ...below)
}

export function policiesPath({ account, params }: PageRequest, ...below: readonly string[]): string {
  return paths.policies(account.id, params.gateway!, ...below)
}

/** Returns the pages above one below the list of policies. */
export function crumbsOfPolicies(request: PageRequest) {
  return [...crumbsOf(request, true), { title: 'Policies', path: policiesPath(request) }]
}

export interface Policies {
  /** What a commit would put in effect: without a draft, what is in effect. */
  readonly next: readonly Policy[]
  readonly committed: readonly Policy[]
  readonly draft: PolicyDraft | null
  /** Of what is in `next`: what was confirmed is committed, and nothing else. */
  readonly tag: string
}

/** All of them are on one page of the API. */
const all = { per_page: 100 }

export async function findPolicies(request: PageRequest): Promise<Policies> {
  const { api } = request
  const [next, committed, draft] = await Promise.all([
    api.get<readonly Policy[]>(policiesOf(request), { ...all, state: 'draft' }),
    api.get<readonly Policy[]>(policiesOf(request), { ...all, state: 'committed' }),
    api.tryGet<PolicyDraft>(policiesOf(request, 'draft')),
  ])
  if (!draft.ok && isOutage(draft)) throw new Refusal(draft)
  const seen = draft.ok ? draft.result : null
  return { next: next.result, committed: committed.result, draft: seen, tag: next.etag ?? '' }
}

interface SeenPolicy {
  readonly policy: Policy
  /** Of the draft as a whole: a change of what was seen, and of nothing else. */
  readonly etag: string
}

export async function findPolicy(request: PageRequest): Promise<SeenPolicy> {
  const { result, etag } = await request.api.get<Policy>(policiesOf(request, request.params.policy!))
  return { policy: result, etag: etag ?? '' }
}

export async function findSpending(request: PageRequest): Promise<readonly PolicyBudgets[]> {
  return (await request.api.get<readonly PolicyBudgets[]>(policiesOf(request, 'budgets'))).result
}

export async function findCommits(request: PageRequest): Promise<readonly PolicyCommit[]> {
  return (await request.api.get<readonly PolicyCommit[]>(policiesOf(request, 'commits'), all)).result
}

/** Returns the commit of the path. */
export async function findCommit(request: PageRequest): Promise<PolicyCommit> {
  const commits = await findCommits(request)
  return commits.find(({ id }) => id === request.params.commit) ?? missing()
}
