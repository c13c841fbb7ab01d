// Mutates a corpus in batches, keeps inputs that reach new blocks, and reports those that break a promise.

import type { Target } from '../target.ts'
import { randomOf } from '../target.ts'
import { type Attempts, type Fault, faultOf } from './attempts.ts'
import type { Coverage, Reached } from './coverage.ts'
import { mutate } from './mutate.ts'
import { shrink } from './shrink.ts'

/** A batch takes so many times as long as the look at the coverage that follows it. */
const batchPerLook = 15
/** Looks that are spent to make an input of the corpus smaller. */
const maxShrinkLooks = 60
/** Attempts that are spent to make a failing input smaller. */
const maxShrinkAttempts = 3_000
const maxFaults = 20

export interface Figures {
  readonly executions: number
  readonly inputs: number
  readonly bytes: number
  readonly reached: number
  readonly known: number
  readonly faults: number
}

export class Fuzzer {
  executions = 0
  readonly #target: Target
  readonly #coverage: Coverage
  readonly #attempts: Attempts
  readonly #report: (fault: Fault) => void
  readonly #tokens: readonly Buffer[]
  readonly #random: () => number
  readonly #faults = new Set<string>()
  #corpus: Buffer[] = []
  #batchSize = 64

  constructor(
    target: Target,
    coverage: Coverage,
    attempts: Attempts,
    seed: number,
    report: (fault: Fault) => void,
  ) {
    this.#target = target
    this.#coverage = coverage
    this.#attempts = attempts
    this.#random = randomOf(seed)
    this.#report = report
    this.#tokens = target.tokens.map(token => Buffer.from(token, 'latin1'))
  }

  /** Runs inputs that are already there, and keeps those that reach anything. */
  begin(inputs: readonly Buffer[]): void {
    this.#coverage.look()
    for (const input of inputs) {
      const reached = this.#reachedBy([input])
      if (!this.#coverage.isNew(reached)) continue
      this.#coverage.count(reached)
      this.#corpus.push(input)
    }
    if (this.#corpus.length === 0) this.#corpus.push(Buffer.alloc(0))
  }

  /** Runs one batch, and looks at what it reached. */
  step(): void {
    const began = performance.now()
    const batch = Array.from({ length: this.#batchSize }, () => this.#newInput())
    const reached = this.#reachedBy(batch)
    const took = performance.now() - began
    const wanted = (this.#batchSize * batchPerLook * this.#coverage.lookCost) / took
    this.#batchSize = Math.round(
      Math.min(Math.max(wanted, 16, this.#batchSize / 2), 8192, this.#batchSize * 2),
    )
    if (!this.#coverage.isNew(reached)) return
    this.#keepNews(batch)
    // What depends on earlier inputs, such as a memo, would look new forever.
    this.#coverage.count(reached)
  }

  get mayGoOn(): boolean {
    return this.#faults.size < maxFaults
  }

  get figures(): Figures {
    const { reached, known } = this.#coverage.blocks()
    return {
      executions: this.executions,
      inputs: this.#corpus.length,
      bytes: this.#corpus.reduce((sum, { length }) => sum + length, 0),
      reached,
      known,
      faults: this.#faults.size,
    }
  }

  /** Returns the shortest inputs that together reach all that the corpus does. */
  smallestCorpus(): readonly Buffer[] {
    this.#coverage.clear()
    const needed: Buffer[] = []
    for (const input of this.#corpus.toSorted((a, b) => a.length - b.length)) {
      const reached = this.#reachedBy([input])
      if (!this.#coverage.isNew(reached)) continue
      this.#coverage.count(reached)
      needed.push(input)
    }
    this.#corpus = needed
    return needed
  }

  #newInput(): Buffer {
    const random = this.#random
    const corpus = this.#corpus
    // What was found last has been tried least.
    const recent = Math.min(corpus.length, 8)
    const base =
      random() % 3 === 0
        ? corpus[corpus.length - 1 - (random() % recent)]!
        : corpus[random() % corpus.length]!
    const { combine, repair, maxLength } = this.#target
    if (combine !== undefined && random() % 2 === 0) {
      const other = corpus[random() % corpus.length]!
      const text = combine(base.toString(), other.toString(), random)
      if (text !== null && text.length <= maxLength) return Buffer.from(text)
    }
    const input = mutate(base, random, { corpus, tokens: this.#tokens, maxLength })
    return repair === undefined || random() % 4 === 0 ? input : repair(input)
  }

  #reachedBy(inputs: readonly Buffer[]): Reached {
    this.executions += inputs.length
    for (const fault of this.#attempts.all(inputs)) this.#found(fault)
    return this.#coverage.look()
  }

  #found(fault: Fault): void {
    if (this.#faults.has(fault.signature)) return
    this.#faults.add(fault.signature)
    const isSame = (input: Buffer) => faultOf(this.#attempts.one(input))?.signature === fault.signature
    const input = fault.isRepeatable ? shrink(fault.input, isSame, maxShrinkAttempts) : fault.input
    this.#report({ ...fault, input })
  }

  /** Finds the inputs of a batch that reach something new, by halves. */
  #keepNews(batch: readonly Buffer[]): void {
    const reached = this.#reachedBy(batch)
    if (!this.#coverage.isNew(reached)) return
    if (batch.length === 1) return this.#keep(batch[0]!, reached)
    const half = batch.length >> 1
    this.#keepNews(batch.slice(0, half))
    this.#keepNews(batch.slice(half))
  }

  #keep(input: Buffer, reached: Reached): void {
    const isEnough = (smaller: Buffer) => this.#coverage.hasAllNews(this.#reachedBy([smaller]), reached)
    this.#corpus.push(apart(shrink(input, isEnough, maxShrinkLooks)))
    this.#coverage.count(reached)
  }
}

/** A copy outside of Node's pool, of which each small input would keep 64 KiB. */
function apart(input: Buffer): Buffer {
  const copy = Buffer.alloc(input.length)
  input.copy(copy)
  return copy
}
