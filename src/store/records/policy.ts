// The policies of AI gateways: who may call what, and for how much.

import type { Gateway } from './records.ts'

/** All of one gateway. */
export interface PolicySet {
  /** The owner: `account/gateway`. A set ends with its gateway. */
  readonly account: string
  /** Always `policySetId`. */
  readonly id: string
  /** Oldest first; the last one is in effect. Empty before the first commit. */
  readonly commits: readonly PolicyCommit[]
  readonly draft: PolicyDraft | null
  readonly createdAt: number
  readonly modifiedAt: number
}

export interface PolicyCommit {
  readonly id: string
  readonly policies: readonly Policy[]
  readonly createdAt: number
}

export interface PolicyDraft {
  /** The commit in effect when the draft began; null if there was none. */
  readonly base: string | null
  readonly policies: readonly Policy[]
}

export interface Policy {
  readonly id: string
  readonly name: string
  /** `*`, or `user:`, `app:`, `token:` or `team:` and whose: an id, a name or a template in braces. */
  readonly actor: string
  readonly resource: PolicyResource
  /** CEL. */
  readonly condition?: string
  readonly action: PolicyAction
}

/** Globs of models, with or without their provider, or of providers. */
export type PolicyResource =
  | '*'
  | { readonly model: string | readonly string[] }
  | { readonly provider: string | readonly string[] }

export type PolicyAction =
  | {
      readonly type: 'limit'
      /** USD with up to 9 decimals. */
      readonly amount: number
      readonly period: PolicyPeriod
      readonly technique: 'named-interval'
      /** IANA; hours have none. Earlier versions left out UTC. */
      readonly timeZone?: string
    }
  | { readonly type: 'no-limit' }
  /** With `except`, everything but the resource is blocked. */
  | { readonly type: 'block'; readonly except?: true }

export type PolicyPeriod = 'hourly' | 'daily' | 'weekly' | 'monthly'

export const policySetId = 'policies'

/** A gateway as calls meet it: with the policies that decide them. */
export interface PolicedGateway extends Gateway {
  /** Those in effect; absent if there are none, so that none decides. */
  readonly policies?: readonly Policy[]
}

/** Returns the commit in effect; null before the first. One without policies lets all calls pass. */
export function commitInEffect({ commits }: Pick<PolicySet, 'commits'>): PolicyCommit | null {
  return commits.at(-1) ?? null
}
