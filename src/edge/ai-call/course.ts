// Where an AI call is on its route, and what it may still do.

import { delayOf } from '../../ai/failover/after-failure.ts'
import type { Controls } from '../../ai/failover/controls.ts'
import type { ModelNode, RouteNode } from '../../ai/failover/model-route.ts'
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
  step = 0
  /** Monotonic ms until the first content, over all attempts. */
  readonly deadline: number
  readonly #controls: Controls
  #node: ModelNode
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

  get fallback(): RouteNode | null {
    return this.#node.fallback
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

  /** `skipped` counts the models between that cannot take the call. */
  goTo(node: ModelNode, skipped: number): void {
    this.step += 1 + skipped
    this.#node = node
    this.#retries = node.retries
    this.#retried = 0
  }
}

const defaultDelay = 200
