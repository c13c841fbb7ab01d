// A compiled RE2 program as a DFA, built on demand. That of the package can take 20 ms for 512 characters and
// 15 MB, and cannot be interrupted; here each step is counted.

import { charge, spend } from './meter.ts'

/** One instruction of RE2; `arg` is the other branch of a fork, or the conditions of an empty match. */
interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  readonly runes: readonly number[]
  matchRune(rune: number): boolean
}

interface Program {
  readonly start: number
  readonly inst: readonly Instruction[]
  startCond(): number
}

interface State {
  readonly pcs: readonly number[]
  readonly before: number
  /** The next states by class of the next character; the last one for the end of the text. */
  readonly next: (State | undefined)[]
}

const maxStates = 512
const maxAhead = 100_000
/** Texts of requests are bytes; other characters are matched without a class. */
const bytes = 256
const end = -1
const surrogates = 0xd800

const matched: State = { pcs: [], before: 0, next: [] }
const lost: State = { pcs: [], before: 0, next: [] }

export class Automaton {
  readonly isWhole: boolean
  readonly #program: Program
  readonly #isAnchored: boolean
  readonly #hasConditions: boolean
  /** The class of each byte, and a byte of each class: no instruction distinguishes the bytes of a class. */
  readonly #classes: Uint8Array
  readonly #samples: readonly number[]
  readonly #states = new Map<string, State>()
  #start: State
  readonly #met: Uint32Array
  #step = 0

  constructor(program: Program) {
    this.#program = program
    this.#isAnchored = (program.startCond() & when.beginText) !== 0
    this.#hasConditions = program.inst.some(({ op: code }) => code === op.emptyWidth)
    const { classes, samples } = classify(program.inst, this.#hasConditions)
    this.#classes = classes
    this.#samples = samples
    this.#met = new Uint32Array(program.inst.length)
    this.#start = this.#begin()
    this.isWhole = this.#buildAhead()
  }

  /** Takes the steps of building; throws if the request has too few. */
  test(text: string): boolean {
    const { length } = text
    const classes = this.#classes
    let state = this.#start
    for (let i = 0; i < length; i++) {
      const code = text.charCodeAt(i)
      state =
        (code < bytes ? state.next[classes[code]!] : undefined) ?? this.#extend(state, text.codePointAt(i)!)
      if (state === matched) return true
      if (state === lost) return false
      if (code >= surrogates && text.codePointAt(i)! > 0xffff) i++
    }
    return (state.next[this.#samples.length] ?? this.#extend(state, end)) === matched
  }

  #begin(): State {
    return this.#stateOf([this.#program.start], this.#hasConditions ? kind.edge : kind.other)
  }

  #extend(state: State, rune: number): State {
    spend(1)
    const { next, steps } = this.#follow(state, rune)
    charge(steps)
    if (rune < bytes) state.next[rune === end ? this.#samples.length : this.#classes[rune]!] = next
    return next
  }

  /** Visits each instruction once, which are the steps it takes. */
  #follow(state: State, rune: number): { readonly next: State; readonly steps: number } {
    const behind = rune === end ? kind.edge : kindOf(rune)
    const conditions = this.#hasConditions ? conditionsBetween(state.before, behind) : 0
    const { inst, start } = this.#program
    const stack = [...state.pcs]
    const reached: number[] = []
    let steps = 0
    this.#step++
    for (let pc = stack.pop(); pc !== undefined; pc = stack.pop()) {
      if (this.#met[pc] === this.#step) continue
      this.#met[pc] = this.#step
      steps++
      const instruction = inst[pc]!
      const { op: code, out, arg } = instruction
      if (code === op.match) return { next: matched, steps }
      if (code === op.alt || code === op.altMatch) stack.push(out, arg)
      else if (code === op.capture || code === op.nop) stack.push(out)
      else if (code === op.emptyWidth) (arg & ~conditions) === 0 && stack.push(out)
      else if (code >= op.rune && rune !== end && instruction.matchRune(rune)) reached.push(out)
    }
    if (rune !== end && !this.#isAnchored) reached.push(start)
    if (reached.length === 0) return { next: lost, steps }
    return {
      next: this.#stateOf(reached, this.#hasConditions ? behind : kind.other),
      steps: steps + reached.length,
    }
  }

  #stateOf(reached: readonly number[], before: number): State {
    const pcs = [...new Set(reached)].sort((a, b) => a - b)
    const key = String.fromCharCode(before, ...pcs)
    const existing = this.#states.get(key)
    if (existing !== undefined) return existing
    if (this.#states.size === maxStates) {
      this.#states.clear()
      this.#start = this.#begin()
    }
    const state: State = { pcs, before, next: Array(this.#samples.length + 1).fill(undefined) }
    this.#states.set(key, state)
    return state
  }

  #buildAhead(): boolean {
    const runes = [...this.#samples, end]
    let sum = 0
    for (const state of this.#states.values())
      for (const [column, rune] of runes.entries()) {
        const { next, steps } = this.#follow(state, rune)
        state.next[column] = next
        sum += steps
        if (sum > maxAhead || this.#states.size > maxStates / 2) return false
      }
    return true
  }
}

/** Instructions and conditions, as numbered by RE2; from `rune` on, each consumes a character. */
const op = { alt: 1, altMatch: 2, capture: 3, emptyWidth: 4, match: 6, nop: 7, rune: 8 }
const when = { beginLine: 1, endLine: 2, beginText: 4, endText: 8, wordBoundary: 16, noWordBoundary: 32 }

/** The kinds of characters that conditions distinguish. */
const kind = { edge: 0, newline: 1, word: 2, other: 3 }

function kindOf(rune: number): number {
  if (rune === 0x0a) return kind.newline
  return rune < 0x80 && /\w/.test(String.fromCharCode(rune)) ? kind.word : kind.other
}

function conditionsBetween(before: number, behind: number): number {
  const isBoundary = (before === kind.word) !== (behind === kind.word)
  let met = isBoundary ? when.wordBoundary : when.noWordBoundary
  if (before === kind.edge) met |= when.beginText | when.beginLine
  if (before === kind.newline) met |= when.beginLine
  if (behind === kind.edge) met |= when.endText | when.endLine
  if (behind === kind.newline) met |= when.endLine
  return met
}

function classify(instructions: readonly Instruction[], hasConditions: boolean) {
  // Repetitions are expanded.
  const distinct = new Map(
    instructions
      .filter(({ op: code }) => code >= op.rune)
      .map(one => [`${one.arg} ${one.runes.join()}`, one]),
  )
  const classes = new Uint8Array(bytes)
  const samples: number[] = []
  const numbers = new Map<string, number>()
  for (let byte = 0; byte < bytes; byte++) {
    let behaviour = hasConditions ? `${kindOf(byte)}` : ''
    for (const instruction of distinct.values()) behaviour += instruction.matchRune(byte) ? '1' : '0'
    if (!numbers.has(behaviour)) numbers.set(behaviour, samples.push(byte) - 1)
    classes[byte] = numbers.get(behaviour)!
  }
  return { classes, samples }
}
