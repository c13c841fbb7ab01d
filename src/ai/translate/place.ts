// The position of a value in a request that is translated, and the faults found there.

import { pointerStep } from '../../base/text/json.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'

interface Direction {
  readonly from: string
  readonly to: string
  /** What precedes packed reasoning that the provider created; absent where none is restored. */
  readonly tag?: string
}

/** Of thousands of faults only the first are reported. */
export class Findings {
  readonly faults: Fault[] = []
  /** The members that are left out although they have no equivalent. */
  readonly dropped = new Set<string>()
  readonly direction: Direction
  count = 0

  constructor(direction: Direction) {
    this.direction = direction
  }

  add(describe: () => Fault): void {
    this.count += 1
    if (this.count <= maxFaults) this.faults.push(describe())
  }
}

/** Written out only when there is a fault. */
export class Place {
  readonly findings: Findings
  readonly #parent: Place | null
  readonly #key: string | number

  constructor(findings: Findings, parent: Place | null = null, key: string | number = '') {
    this.findings = findings
    this.#parent = parent
    this.#key = key
  }

  step(key: string | number): Place {
    return new Place(this.findings, this, key)
  }

  fault(rule: string): undefined {
    this.findings.add(() => faultAt(this.#pointer, 'invalid', this.#name || 'the body', rule))
  }

  /** The member has no equivalent in the other API. */
  untranslatable(advice = 'leave it out'): undefined {
    this.fault(`has no equivalent in ${this.findings.direction.to}: ${advice}`)
  }

  drop(): undefined {
    this.findings.dropped.add(this.#path)
  }

  get #path(): string {
    if (!this.#parent) return ''
    const before = this.#parent.#path
    if (typeof this.#key === 'number') return `${before}[]`
    return before ? `${before}.${this.#key}` : this.#key
  }

  get #pointer(): string {
    if (!this.#parent) return ''
    return this.#parent.#pointer + pointerStep(shorten(String(this.#key)))
  }

  get #name(): string {
    if (!this.#parent) return ''
    const before = this.#parent.#name
    if (typeof this.#key === 'number') return `${before}[${this.#key}]`
    return before ? `${before}.${shorten(this.#key)}` : shorten(this.#key)
  }
}

export function shorten(word: string): string {
  return word.length > 64 ? `${word.slice(0, 64)}…` : word
}

const maxFaults = 100
