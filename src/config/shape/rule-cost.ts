// The cost of rules for a typical request, and the bound on their total for one request.

import { compileExpression, type ResultType, type Scope } from '../../expression/expression.ts'
import { Glob } from '../../base/text/glob.ts'
import { HostNames } from '../../net/address/host-names.ts'
import { typical } from '../../expression/work-budget.ts'
import type { AccessCondition } from '../model/access-config.ts'
import type { Findings, Place } from '../file/mistake.ts'

/** Steps of a limit without its expression, of a rewritten header, and of a route. */
export const limitWork = 40
export const rewriteWork = 40
export const routeWork = 1

/** Returns the steps of an access rule; none for an expression that does not compile. */
export function accessWork(condition: AccessCondition): number {
  return condition.kind === 'expression'
    ? expressionWork(condition.text, 'request', 'bool')
    : plainWork(condition) + longestWork(condition, typical.agent)
}

/** Returns the steps of an expression; none for one that does not compile. */
export function expressionWork(text: string, scope: Scope, type: ResultType): number {
  const compiled =
    type === 'bool' ? compileExpression(text, scope, 'bool') : compileExpression(text, scope, 'string')
  return 'work' in compiled ? compiled.work : 0
}

/** Returns the steps of a condition that are the same for every request. */
export function plainWork(condition: AccessCondition): number {
  switch (condition.kind) {
    case 'list':
      return 8
    case 'referer':
    case 'referer_not':
      return 4 * (1 + new HostNames(condition.hosts).lookups)
    default:
      return 4
  }
}

/** Returns the steps that a text adds: a User-Agent, or one reading of a path. */
function longestWork(condition: AccessCondition, text: number): number {
  if (condition.kind === 'user_agent')
    return condition.patterns.reduce((sum, pattern) => sum + new Glob(pattern).workFor(text), 0)
  if (condition.kind === 'path') return pathWork(condition.prefixes)
  return 0
}

/** Returns the steps of checking whether a path begins with one of these. */
export function pathWork(prefixes: readonly string[]): number {
  return prefixes.reduce((sum, { length }) => sum + 1 + (length >> 8), 0)
}

/** Adds up the steps of rules in the order of a request; a sum beyond the bound is a mistake. */
export class WorkSum {
  readonly #most: number
  readonly #findings: Findings
  #steps = 0
  #isOver = false

  constructor(maxCost: number, findings: Findings) {
    this.#most = maxCost
    this.#findings = findings
  }

  add(steps: number, place: Place): void {
    this.#steps += steps
    if (this.#isOver || this.#steps <= this.#most) return
    this.#isOver = true
    const sum = `${Math.ceil(this.#steps)} steps including the rules before it, of at most ${this.#most}`
    this.#findings.flaw(place, `could take too many steps for one request: ${sum}`)
  }

  /** Starts a separate sum for rules that only some requests meet, on top of everything added so far. */
  branch(): WorkSum {
    const branch = new WorkSum(this.#most, this.#findings)
    branch.#steps = this.#steps
    branch.#isOver = this.#isOver
    return branch
  }
}
