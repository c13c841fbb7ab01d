// Where an AI call is on its route, and what it may still do.

import { delayOf } from '../../ai/failover/after-failure.ts'
import type { Controls } from '../../ai/failover/controls.ts'
import type { ModelNode, PassedRate, RouteNode } from '../../ai/failover/model-route.ts'
import type { FailoverConfig } from '../../config/model/config.ts'

interface CourseParts {
  readonly body: Buffer | null
  readonly controls: Controls
  readonly failover: FailoverConfig
  readonly now: number
}

export class Course {
  /** Until the response begins; null for a native call. */
  body: Buffer | null
  readonly maxAttempts: number
  readonly statuses: readonly number[]
  readonly retryWithin: number
  /** Monotonic ms until the first content, over all attempts. */
  readonly deadline: number
  readonly #controls: Controls
  #node: ModelNode
  #step = 0
  #passed: PassedRate | null = null
  #exceeded: PassedRate | null = null
  /** Left at the present model, and made. */
  #retries = 0
  #retried = 0

  constructor(node: ModelNode, { body, controls, failover, now }: CourseParts) {
    this.body = body
    this.maxAttempts = controls.maxAttempts ?? failover.maxAttempts
    this.statuses = failover.statuses
    this.retryWithin = failover.retryWithin
    this.deadline = failover.deadline === 0 ? Number.POSITIVE_INFINITY : now + failover.deadline
    this.#controls = controls
    this.#node = node
    this.#retries = node.retries
  }

  get model(): string {
    return this.#node.model
  }

  /** Until the first content; null for no limit but that of all AI calls. */
  get timeout(): number | null {
    return this.#controls.timeout ?? this.#node.timeout
  }

  get step(): number {
    return this.#step
  }

  /** Where the call goes if its present model fails, or costs too much for a rate. */
  get fallback(): RouteNode | null {
    return this.#exceeded === null ? this.#node.fallback : this.#exceeded.rate.beyond
  }

  /** The last rate by cost on the way to there. */
  get passed(): PassedRate | null {
    return this.#exceeded === null ? this.#passed : this.#exceeded.before
  }

  get retries(): number {
    return this.#retries
  }

  /** Whether another key may be tried after so many attempts: one is left to the next model. */
  mayChangeKey(attempts: number): boolean {
    return attempts + (this.fallback === null ? 0 : 1) < this.maxAttempts
  }

  get delay(): number {
    const { delay, backoff } = this.#controls
    return delayOf(this.#retried + 1, delay ?? defaultDelay, backoff ?? 'exponential')
  }

  retry(): void {
    this.#retries--
    this.#retried++
  }

  /** `skipped` counts the models before that cannot take the call. */
  begin(skipped: number, passed: PassedRate | null): void {
    this.#step = skipped
    this.#passed = passed
  }

  /** Sends the call beyond a rate that it has passed: its present model costs too much for that. */
  exceed(rate: PassedRate): void {
    this.#exceeded = rate
  }

  /** `skipped` counts the models between that cannot take the call. */
  goTo(node: ModelNode, skipped: number, passed: PassedRate | null): void {
    this.#step += skipped + (this.#exceeded === null ? 1 : 0)
    this.#passed = passed
    this.#exceeded = null
    this.#node = node
    this.#retries = node.retries
    this.#retried = 0
  }
}

const defaultDelay = 200
