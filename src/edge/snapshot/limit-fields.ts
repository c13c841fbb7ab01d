// The response fields about a limit (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4).

import type { Spent } from '../../limits/key-count.ts'

export class LimitFields {
  readonly policy: string
  readonly #seconds: number
  readonly #opening: string
  /** After the remaining count, in nearly all responses. */
  readonly #usualEnd: string

  constructor(name: string, max: number, period: number) {
    this.#seconds = secondsOf(period)
    this.policy = `"${name}";q=${max};w=${this.#seconds}`
    this.#opening = `RateLimit: "${name}";r=`
    this.#usualEnd = this.#end(this.#seconds, this.policy)
  }

  lines({ remaining, wait }: Spent, policies = this.policy): string {
    const seconds = secondsOf(wait)
    const isUsual = policies === this.policy && seconds === this.#seconds
    return `${this.#opening}${remaining}${isUsual ? this.#usualEnd : this.#end(seconds, policies)}`
  }

  #end(seconds: number, policies: string): string {
    return `;t=${seconds}\r\nRateLimit-Policy: ${policies}\r\n`
  }
}

/** Returns whole seconds, at least one, as in Retry-After. */
export function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
