// The cost of conditions: nothing else can interrupt an evaluation, so it ends itself without steps left.

import type { ASTNode } from '@marcbachmann/cel-js'
import { prototypes } from './package-internals.ts'
import { Work } from './work-budget.ts'

let work = new Work()

export function useWork(left: Work): void {
  work = left
}

/** Throws if too few are left, and takes none. Whole numbers are the fastest to count. */
export function spend(steps: number): void {
  if (!work.take(steps)) throw spent
}

export function charge(steps: number): void {
  work.left -= steps
}

const spent = new Error('the request has no steps left')
export const failure = 120

interface Evaluator {
  run(node: Evaluated, context: unknown): unknown
  tryEval(node: Evaluated, context: unknown): unknown
}

interface Evaluated {
  evaluate(evaluator: Evaluator, node: Evaluated, context: unknown): unknown
}

/** Counts the parts that are evaluated, and the lengths of their texts. */
const counting: Evaluator = {
  run(node, context) {
    const value = node.evaluate(this, node, context)
    spend(typeof value === 'string' ? 1 + (value.length >> 6) : 1)
    return value
  },
  /** `||`, `&&` and loops treat failures as values and continue; without steps they must not. */
  tryEval(node, context) {
    try {
      return this.run(node, context)
    } catch (error) {
      if (error === spent) throw error
      charge(failure)
      return error
    }
  },
}

Object.assign(prototypes.evaluator, counting)

/** Counts what a checked part of an expression does beyond what the values of its parts show. */
export function meter(node: ASTNode): void {
  const metered = node as unknown as {
    handle: (left: unknown, right: unknown, ...rest: unknown[]) => unknown
  }
  const { handle } = metered
  if (node.op === 'rcall' || node.op === 'call') {
    const cost = costOfCall(node.args[0])
    if (cost === undefined) return
    metered.handle = (args, a, b) => {
      const [of, by] = args as readonly unknown[]
      spend(Math.ceil(cost(of, by)))
      return handle(args, a, b)
    }
  } else if (iterates(node)) {
    metered.handle = (left, right, a, b) => {
      spend(weigh(left) + weigh(right))
      return handle(left, right, a, b)
    }
  }
}

/** Literals count by their parts, and a map is not searched. */
function iterates({ op, args }: ASTNode): boolean {
  if (op !== '==' && op !== '!=' && op !== '+' && op !== 'in') return false
  const [left, right] = args as unknown as readonly Checked[]
  if (op === 'in' && (right!.op === 'list' || right!.checkedType?.kind === 'map')) return false
  return [left, right].some(one => one!.checkedType?.kind !== 'primitive')
}

interface Checked {
  readonly op: string
  readonly checkedType?: { readonly kind: string }
}

type Cost = (of: unknown, by?: unknown) => number

export function costOfCall(name: string): Cost | undefined {
  if (name === 'startsWith' || name === 'endsWith' || name === 'orValue' || name === 'hasValue')
    return undefined
  if (name === 'contains') return (of, part) => (lengthOf(of) * Math.max(1, lengthOf(part) / 256)) / 5
  // V8 looks for the last occurrence by comparing at each position.
  if (name === 'lastIndexOf') return (of, part) => lengthOf(of) * (1 / 6 + lengthOf(part) / 40)
  if (name === 'join') return (of, between) => (lengthOf(of) * (16 + lengthOf(between))) / 16
  if (name === 'split') return of => lengthOf(of) / 2
  return of => lengthOf(of) / 6
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 1
}

function weigh(value: unknown): number {
  if (typeof value === 'string') return 1 + (value.length >> 5)
  if (typeof value !== 'object' || value === null) return 0
  let sum = 0
  for (const part of value instanceof Map ? value.values() : Object.values(value)) sum += 1 + weigh(part)
  return sum
}
