// The buckets of one rule: for each value that has a budget of its own, and for each window.

import { hash } from 'node:crypto'
import { day } from '../base/units.ts'
import type { BudgetWindow } from '../store/records/budget.ts'
import type { BudgetUnit, SpendRule } from '../store/records/budget-rule.ts'
import { periodEnds } from './calendar.ts'
import type { LimitedBucket } from './charge.ts'

/** A rule as budgets count by it. */
export interface BudgetRule {
  readonly id: string
  readonly owner: 'gateway' | 'token' | 'policy' | 'route'
  /** What its owner calls it; absent for a rule that has only an id. */
  readonly name?: string
  readonly unit: BudgetUnit
  /** Nanodollars, tokens, or calls at a time: a safe integer. */
  readonly limit: number
  /** What it allows, as `$5.00 a day`. */
  readonly words: string
  /** Ms of its window; absent for months, which differ, and for calls at a time. */
  readonly period?: number
  readonly whenUnreachable: 'closed' | 'open'
}

/** The key has digests of what the rule counts and of the partition, and the end of a fixed window. */
export interface Bucket extends LimitedBucket {
  readonly rule: BudgetRule
}

type Windows = Pick<SpendRule, 'window' | 'technique' | 'timeZone'>

interface Counting {
  /** All that tells its buckets from those of other rules, besides unit and windows. */
  readonly counted: readonly unknown[]
  /** Whether each value of something has a bucket of its own. */
  readonly isPartitioned: boolean
}

/** Partitions that a process remembers of each rule, and the length of their values. */
const maxRemembered = 4_096
const maxLength = 1_024

export class RuleBuckets {
  readonly rule: BudgetRule
  readonly #isPartitioned: boolean
  readonly #digest: string
  readonly #endOf: ((now: number) => number) | null
  readonly #buckets = new Map<string | null, Bucket>()
  #window: BudgetWindow
  #until = 0
  /** How the keys of this window end. */
  #end = ''

  constructor(rule: BudgetRule, windows: Windows, { counted, isPartitioned }: Counting) {
    const { window, technique, timeZone } = windows
    this.rule = rule
    this.#isPartitioned = isPartitioned
    const zone = typeof window === 'string' ? (timeZone ?? 'UTC') : null
    this.#digest = digestOf([...counted, rule.unit, window, technique, zone], ruleLength)
    this.#endOf = endsOf(windows)
    this.#window =
      typeof window === 'number' && technique === 'sliding'
        ? { kind: 'sliding', period: window * 1000 }
        : { kind: 'none' }
  }

  /** Returns the bucket of a value, one object while its window lasts. */
  of(value: string | null, now: number): Bucket {
    if (this.#endOf !== null) this.#advance(this.#endOf(now))
    return this.#buckets.get(value) ?? this.#make(value)
  }

  /** Returns the bucket of a key; null if it is not one of this rule and window. */
  named(key: string, now: number): Bucket | null {
    if (this.#endOf !== null) this.#advance(this.#endOf(now))
    const partition = this.#isPartitioned ? valueLength : 0
    const isOwn =
      key.startsWith(this.#digest) &&
      key.endsWith(this.#end) &&
      key.length === ruleLength + partition + this.#end.length
    return isOwn ? this.#bucket(key) : null
  }

  #advance(until: number): void {
    if (until === this.#until) return
    this.#until = until
    this.#window = { kind: 'fixed', until }
    this.#end = `.${(until / 1000).toString(36)}`
    this.#buckets.clear()
  }

  #make(value: string | null): Bucket {
    const partition = this.#isPartitioned ? digestOf([this.#digest, value], valueLength) : ''
    const bucket = `${this.#digest}${partition}${this.#end}`
    const made = this.#bucket(bucket)
    if (value !== null && value.length > maxLength) return made
    if (this.#buckets.size >= maxRemembered) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(value, made)
    return made
  }

  #bucket(bucket: string): Bucket {
    const { limit, whenUnreachable } = this.rule
    return { rule: this.rule, bucket, window: this.#window, limit, whenUnreachable }
  }
}

/** Returns what ends the fixed windows of a rule; null if it has none. Seconds count from the epoch. */
function endsOf({ window, technique, timeZone }: Windows): ((now: number) => number) | null {
  if (window === null) return null
  if (typeof window === 'string') return periodEnds(window, timeZone ?? 'UTC')
  const period = window * 1000
  return technique === 'sliding' ? null : now => (Math.floor(now / period) + 1) * period
}

/** Returns how long the windows of a rule are, if all are equally long. */
export function periodOf(window: SpendRule['window']): Pick<BudgetRule, 'period'> {
  if (typeof window === 'number') return { period: window * 1000 }
  return window === 'day' ? { period: day } : window === 'week' ? { period: 7 * day } : {}
}

/** 96 and 132 bits: nobody finds two values with the same, nor the one of a rule that is not theirs. */
const ruleLength = 16
const valueLength = 22

function digestOf(parts: readonly unknown[], length: number): string {
  return hash('sha256', JSON.stringify(parts), 'base64url').slice(0, length)
}
