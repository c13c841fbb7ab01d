// The access rules of a zone, or of all, compiled: the first that matches decides. The edge asks once a request.
import type { Facts } from '../base/expression.ts'
import type { AccessConfig } from '../config/access-config.ts'
import type { Refusal } from '../errors/refusal.ts'
import type { Geo } from './geo.ts'
import type { Lists } from './lists.ts'

export interface AccessSources {
  readonly lists: Lists
  readonly geo: Geo | null
}

/** What rules look at. */
export interface AccessRequest {
  readonly address: string
  readonly facts: Facts
}

/** `allow`: a rule lets it in, and no later policy is asked. Null: no rule matched. */
export type AccessVerdict = 'allow' | Refusal | null

export class AccessPolicy {
  readonly isEmpty: boolean

  /** Compiles rules that were found good; throws at others. */
  constructor({ rules, otherwise }: AccessConfig, _sources: AccessSources) {
    this.isEmpty = rules.length === 0 && otherwise === 'allow'
  }

  decide(_request: AccessRequest): AccessVerdict {
    return null
  }
}
