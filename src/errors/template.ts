// Renders an error once with sample values, and cuts the text where they stand: filling the gaps is then all that an answer costs.
// compose.ts keeps one for every error and format.

import { type Occasion, type Problem, problem, timestampOf } from './problem.ts'
import type { Refusal } from './refusal.ts'

/** What differs between two answers with the same error, escaped for the format. */
export interface Values {
  readonly ray: string
  readonly zone: string
  readonly timestamp: string
  readonly wait: string
}

export class Template {
  readonly #texts: readonly string[]
  readonly #slots: readonly (keyof Values)[]

  constructor(refusal: Refusal, documentation: string, render: (problem: Problem) => string) {
    const pieces = render(problem({ ...refusal, retryAfter: SAMPLE_WAIT }, sample, documentation)).split(
      MARKS,
    )
    this.#texts = pieces.filter((_, i) => i % 2 === 0)
    this.#slots = pieces.filter((_, i) => i % 2 === 1).map(mark => slotByMark[mark]!)
  }

  fill(values: Values): string {
    const texts = this.#texts
    const slots = this.#slots
    let text = texts[0]!
    for (let i = 0; i < slots.length; i++) text += values[slots[i]!] + texts[i + 1]!
    return text
  }
}

const SAMPLE_WAIT = 51_070
const sample: Occasion = { ray: '51a051a051a051a0', zone: 'sample.invalid', accept: null, time: 51_070_051 }

const slotByMark: Readonly<Record<string, keyof Values>> = {
  [sample.ray]: 'ray',
  [sample.zone]: 'zone',
  [timestampOf(sample.time)]: 'timestamp',
  [SAMPLE_WAIT]: 'wait',
}

const MARKS = new RegExp(`(${Object.keys(slotByMark).map(RegExp.escape).join('|')})`)
