// A compiled regular expression (a program of RE2) as an automaton that is built ahead as far as that is little work, and further while texts need it:
// each step of that is counted, so that it can stop where a text would cost too much.

import type { Work } from './work-budget.ts'
import { bytes, classify, conditionsBetween, type Instruction, kind, kindOf, op, when } from './program.ts'

interface Program {
  readonly start: number
  readonly inst: readonly Instruction[]
  /** Returns the conditions under which every match begins. */
  startCond(): number
}

interface State {
  readonly id: number
  /** Instructions that take a character, and those whose conditions are not known before it. */
  readonly pcs: readonly number[]
  readonly isConditional: boolean
  /** What stands before, as far as conditions ask. */
  readonly before: number
}

/** States that are kept; then all are forgotten. */
const mostStates = 512
/** The steps that one character may take: programs that could take more are of no use. */
export const mostSteps = 8_000
/** Steps that are made ahead. */
const mostAhead = 100_000

/** Where a step leads, beside the numbers of states. */
const unknown = 0
const matched = 1
const lost = 2
const first = 3

export class Automaton {
  /** The steps that one character can take at most, on top of a look-up. */
  readonly widest: number
  /** Whether there is nothing left to be built by any text of bytes. */
  readonly isWhole: boolean
  readonly #program: Program
  readonly #isAnchored: boolean
  readonly #classes: Uint8Array
  /** A byte of each class. */
  readonly #samples: readonly number[]
  /** By state, then by class; the last for the end of the text. */
  readonly #width: number
  #table: Uint16Array
  #states: State[] = []
  #known = new Map<string, number>()
  #start = lost
  /** The round in which an instruction was met last. */
  readonly #met: Uint32Array
  #round = 0
  /** By instruction: what can be reached from it without a character. */
  readonly #reached: (readonly number[] | undefined)[] = []
  /** What the current round found. */
  #found: number[] = []
  #isMatch = false
  #isConditional = false
  #steps = 0

  constructor(program: Program) {
    this.#program = program
    this.#isAnchored = startsAtBeginning(program)
    const { classes, samples } = classify(program.inst)
    this.#classes = classes
    this.#samples = samples
    this.#width = samples.length + 1
    this.#table = new Uint16Array(16 * this.#width)
    this.#met = new Uint32Array(program.inst.length)
    this.widest = this.#widest()
    if (this.widest > mostSteps) {
      this.isWhole = false
      return
    }
    this.#begin()
    this.#add(program.start)
    this.#start = this.#isMatch ? matched : this.#stateOf(this.#found, kind.edge)
    this.isWhole = this.#start === matched || this.#buildAhead()
  }

  /** Whether any part of a text matches; null when it would have to be built further and nothing is left for that. Takes the steps of building alone. */
  test(text: string, work: Work): boolean | null {
    let at = this.#start
    if (at === matched) return true
    const { length } = text
    const width = this.#width
    const classes = this.#classes
    let table = this.#table
    let i = 0
    for (; i < length; i++) {
      const code = text.charCodeAt(i)
      let next = code < bytes ? table[(at - first) * width + classes[code]!]! : unknown
      if (next === unknown) {
        next = this.#go(at, text, i, work)
        table = this.#table
      }
      if (next < first) {
        return next === unknown ? null : next === matched
      }
      if (code >= surrogates && text.codePointAt(i)! > 0xffff) i++
      at = next
    }
    const last = table[(at - first) * width + width - 1]! || this.#go(at, text, length, work)
    return last === unknown ? null : last === matched
  }

  /** Adds up what all instructions together lead to, as far as that is allowed. */
  #widest(): number {
    const { inst, start } = this.#program
    let sum = 2 * inst.length
    const add = (pc: number) => (sum += (this.#reached[pc] ??= this.#reachedFrom(pc)).length)
    add(start)
    for (const { op: code, out } of inst) if (code >= op.rune && sum <= mostSteps) add(out)
    return sum
  }

  /** Makes the step at a character; `unknown` when nothing is left for it. */
  #go(at: number, text: string, i: number, work: Work): number {
    if (work.left <= 0) return unknown
    const code = text.codePointAt(i) ?? end
    const state = this.#states[at - first]!
    const states = this.#states
    const next = this.#step(state, code)
    work.left -= this.#steps
    if (code < bytes && states === this.#states)
      this.#note(state.id, code === end ? this.#width - 1 : this.#classes[code]!, next)
    return next
  }

  /** Returns what follows a character, or the end. */
  #step(state: State, rune: number): number {
    this.#steps = 0
    const active = state.isConditional ? this.#resolved(state, rune) : state.pcs
    if (active === null) return matched
    if (rune === end) return lost
    this.#begin()
    for (const pc of active) {
      this.#steps++
      const instruction = this.#program.inst[pc]!
      if (instruction.matchRune(rune)) this.#add(instruction.out)
    }
    if (!this.#isAnchored) this.#add(this.#program.start)
    if (this.#isMatch) return matched
    return this.#found.length === 0 ? lost : this.#stateOf(this.#found, kindOf(rune))
  }

  /** Returns the instructions of a state that take a character, once its conditions are known; null when it matches already. */
  #resolved(state: State, rune: number): readonly number[] | null {
    const conditions = conditionsBetween(state.before, rune === end ? kind.edge : kindOf(rune))
    this.#begin()
    for (const pc of state.pcs) this.#follow(pc, conditions)
    return this.#isMatch ? null : this.#found
  }

  #begin(): void {
    this.#round++
    this.#found = []
    this.#isMatch = false
    this.#isConditional = false
  }

  /** Notes what can be reached without a character; what depends on conditions is noted itself, since these are not known yet. */
  #add(pc: number): void {
    const reached = (this.#reached[pc] ??= this.#reachedFrom(pc))
    this.#steps += reached.length
    for (const at of reached) {
      if (this.#met[at] === this.#round) continue
      this.#met[at] = this.#round
      const { op: code } = this.#program.inst[at]!
      if (code === op.match) this.#isMatch = true
      else this.#found.push(at)
      if (code === op.emptyWidth) this.#isConditional = true
    }
  }

  #reachedFrom(pc: number): readonly number[] {
    const { inst } = this.#program
    const reached = new Set([pc])
    for (const at of reached) {
      this.#steps++
      const { op: code, out, arg } = inst[at]!
      if (isFork(code)) reached.add(out).add(arg)
      else if (passes(code)) reached.add(out)
    }
    return [...reached].filter(at => {
      const { op: code } = inst[at]!
      return code >= op.rune || code === op.match || code === op.emptyWidth
    })
  }

  /** Notes what can be reached without a character where these conditions hold. */
  #follow(pc: number, conditions: number): void {
    const stack = [pc]
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (this.#met[at] === this.#round) continue
      this.#met[at] = this.#round
      this.#steps++
      const { op: code, out, arg } = this.#program.inst[at]!
      if (isFork(code)) stack.push(out, arg)
      else if (passes(code)) stack.push(out)
      else if (code === op.match) this.#isMatch = true
      else if (code >= op.rune) this.#found.push(at)
      else if (code === op.emptyWidth && (arg & ~conditions) === 0) stack.push(out)
    }
  }

  /** Returns the number of a state, which may be new. */
  #stateOf(pcs: number[], before: number): number {
    pcs.sort((a, b) => a - b)
    this.#steps += pcs.length
    const isConditional = this.#isConditional
    const key = String.fromCharCode(isConditional ? before : kind.other, ...pcs)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#states.length === mostStates) this.#forget()
    const id = this.#states.push({ id: this.#states.length, pcs, isConditional, before }) - 1
    this.#known.set(key, id + first)
    return id + first
  }

  /** Starts over, keeping only the state that every text begins with. */
  #forget(): void {
    const start = this.#states[0]!
    this.#states = [start]
    this.#known = new Map()
    this.#table = new Uint16Array(16 * this.#width)
  }

  #note(state: number, column: number, next: number): void {
    const at = state * this.#width + column
    while (Math.max(state, next - first) * this.#width + this.#width > this.#table.length) this.#grow()
    this.#table[at] = next
  }

  #grow(): void {
    const table = new Uint16Array(2 * this.#table.length)
    table.set(this.#table)
    this.#table = table
  }

  /** Makes the steps of all states at all bytes, as far as they go; tells whether that was all. */
  #buildAhead(): boolean {
    const runes = [...this.#samples, end]
    let steps = 0
    for (const state of this.#states)
      for (const [column, rune] of runes.entries()) {
        this.#note(state.id, column, this.#step(state, rune))
        steps += this.#steps
        if (steps > mostAhead || this.#states.length > mostStates / 2) return false
      }
    return true
  }
}

/** Stands for the end of a text where a character could be. */
const end = -1
/** The first half of a character beyond 0xffff, or what comes after all of those. */
const surrogates = 0xd800

function startsAtBeginning(program: Program): boolean {
  return (program.startCond() & when.beginText) !== 0
}

function isFork(code: number): boolean {
  return code === op.alt || code === op.altMatch
}

function passes(code: number): boolean {
  return code === op.capture || code === op.nop
}
