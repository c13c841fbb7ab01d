// Operators' conditions in CEL, the Common Expression Language: compiled and checked once, asked at each request.

import { type Facts, type RequestFacts, Variables } from './facts.ts'
import { parseFor, type Scope } from './language.ts'
import { Guard, type Reads, scales, usualScale } from './guard.ts'
import { Memo } from './memo.ts'
import { isWorkSpent, openPatterns, renewRanges, useWork } from './pattern.ts'
import { estimateWork, failure } from './work.ts'
import { mostWork, Work } from './work-budget.ts'

export type { Facts, RequestFacts, Scope }
export type ResultType = 'bool' | 'string'

export interface Expression<T extends boolean | string> {
  readonly text: string
  /** Whether it reads request.country or request.asn, which need a database. */
  readonly needsGeo: boolean
  /** Whether it reads request.path, of which there may be several readings. */
  readonly readsPath: boolean
  /** The steps that it takes at a usual request, to be added up over all that a request meets: see `mostWork`. */
  readonly work: number
  /**
   * Evaluates; null when it failed (a missing key, or more work than is left). Takes its steps from the work of the request. Never throws. A `path` stands in place of
   * that of the facts.
   */
  evaluate(facts: Facts, work?: Work, path?: string): T | null
}

/** Describes what is wrong with a text, and where in it: line and column count from 1. */
export interface ExpressionFlaw {
  readonly message: string
  readonly line: number
  readonly column: number
}

const mostBytes = 4096
const compiled = new Memo<Expression<boolean> | Expression<string>>(4000)

/**
 * Compiles a text of at most 4 KiB, or tells what is wrong with it: syntax, a variable or type, or that it could be too much work.
 * A header that was not sent is a missing key, as in all of CEL: `"x" in request.headers &&` or `request.headers[?"x"].orValue([])` guards.
 */
export function compileExpression(
  text: string,
  scope: Scope,
  type: 'bool',
): Expression<boolean> | ExpressionFlaw
export function compileExpression(
  text: string,
  scope: Scope,
  type: 'string',
): Expression<string> | ExpressionFlaw
export function compileExpression(
  text: string,
  scope: Scope,
  type: ResultType,
): Expression<boolean> | Expression<string> | ExpressionFlaw {
  const key = `${scope} ${type} ${text}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const result = compile(text, scope, type)
  if ('evaluate' in result) compiled.set(key, result)
  return result
}

/** Describes what a setting must be, given the flaw of what it is. */
export function describeFlaw(flaw: ExpressionFlaw): string {
  return `must be a CEL expression; line ${flaw.line}, column ${flaw.column}: ${flaw.message}`
}

function compile(text: string, scope: Scope, type: ResultType) {
  if (text.trim() === '') return flawAt(text, 0, 'it is empty')
  if (Buffer.byteLength(text) > mostBytes) return flawAt(text, 0, 'it is longer than 4 KiB')
  try {
    renewRanges()
    const run = parseFor(scope, text)
    const checked = run.check()
    if (!checked.valid) return flawOf(text, checked.error)
    const { flaw, reads } = estimateWork(run.ast, scales[usualScale]!)
    if (flaw !== null) return flawAt(text, flaw.node.pos, flaw.message)
    if (checked.type !== type) return flawAt(text, 0, `it returns ${checked.type} but must return ${type}`)
    const costs = scales.map(scale => estimateWork(run.ast, scale).cost)
    const work = costs[usualScale]! + building * openPatterns()
    if (work > mostWork.rules.api) return flawAt(text, 0, 'it could take too many steps for one request')
    const price = { work, reads, guard: new Guard(reads, costs) }
    return type === 'bool'
      ? new Compiled<boolean>(text, price, run, 'boolean')
      : new Compiled<string>(text, price, run, 'string')
  } catch (error) {
    return flawOf(text, error)
  }
}

/** What it may take at a usual request to build an automaton on that is too large to be built ahead. */
const building = 1500

interface Price {
  readonly work: number
  readonly reads: Reads
  readonly guard: Guard
}

class Compiled<T extends boolean | string> implements Expression<T> {
  readonly text: string
  readonly needsGeo: boolean
  readonly readsPath: boolean
  readonly work: number
  readonly #guard: Guard
  readonly #run: (variables: Variables) => unknown
  readonly #type: string

  constructor(
    text: string,
    { work, reads, guard }: Price,
    run: (variables: Variables) => unknown,
    type: 'boolean' | 'string',
  ) {
    this.text = text
    this.needsGeo = reads.geo
    this.readsPath = reads.path
    this.work = work
    this.#guard = guard
    this.#run = run
    this.#type = type
  }

  evaluate(facts: Facts, work = new Work(), path?: string): T | null {
    // Nobody sees the stack of a failure, which would be most of its cost.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      if (!work.take(this.#guard.costOf(facts.request, path))) return null
      useWork(work)
      const value = this.#run(new Variables(facts, path))
      return typeof value === this.#type && !isWorkSpent() ? (value as T) : null
    } catch {
      work.left -= failure
      return null
    } finally {
      Error.stackTraceLimit = stackTraceLimit
    }
  }
}

interface PackageError {
  readonly code?: string
  readonly summary?: string
  readonly range?: { readonly start: number }
}

/** Returns what the package found; what it did not mean to throw (a stack too deep) has no place in the text. */
function flawOf(text: string, error: unknown): ExpressionFlaw {
  const { code, summary, range } = (error ?? {}) as PackageError
  if (code === 'limit_exceeded')
    return flawAt(text, range?.start ?? 0, 'it has too many parts or is nested too deeply')
  return flawAt(text, range?.start ?? 0, readable(summary ?? 'it cannot be parsed'))
}

function flawAt(text: string, offset: number, message: string): ExpressionFlaw {
  const before = text.slice(0, Math.max(0, offset)).split('\n')
  return { message, line: before.length, column: before.at(-1)!.length + 1 }
}

const longestMessage = 160
const tokens: Readonly<Record<string, string>> = {
  EOF: 'the end',
  LPAREN: '(',
  RPAREN: ')',
  LBRACKET: '[',
  RBRACKET: ']',
  LBRACE: '{',
  RBRACE: '}',
  COLON: ':',
  COMMA: ',',
}

/** Keeps a message of the package to one short line, begun in lower case like ours. */
function readable(summary: string): string {
  const line = summary
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/\b[A-Z]{3,}\b/g, name => tokens[name] ?? name)
    .slice(0, longestMessage)
  return line.charAt(0).toLowerCase() + line.slice(1)
}
