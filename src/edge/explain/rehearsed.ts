// A rehearsed request: one that was taken through the steps without being sent.

import type { AccessDecision } from '../../access/policy.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { Compared, DecidingRule } from '../../zones/explanation.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { RehearsalClient } from './client.ts'
import type { StepName } from '../serve/steps.ts'
import type { ReadOnlyLimiter } from './read-only-limiter.ts'

export interface Decision {
  readonly step: StepName
  readonly verdict: Refusal | 'responds' | 'depends' | null
}

export interface Rehearsed {
  readonly x: Exchange
  readonly client: RehearsalClient
  readonly decisions: readonly Decision[]
  readonly access: readonly AccessDecision[]
  readonly limiter: ReadOnlyLimiter
}

export interface Reason {
  readonly reason: string
  readonly rule?: DecidingRule | null
  readonly compared?: readonly Compared[]
}
