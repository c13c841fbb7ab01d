// Operators' conditions in CEL: compiled and checked once, evaluated at each request.

import { type CallFacts, CallVariables } from './call-facts.ts'
import { type ClaimFacts, ClaimVariables } from './claim-facts.ts'
import { type Facts, type RequestFacts, Variables } from './facts.ts'
import { type McpFacts, McpVariables } from './mcp-facts.ts'
import { type Language, parseFor, type Scope } from './language.ts'
import { Memo } from './memo.ts'
import { failure, useWork } from './meter.ts'
import { beginning, survey } from './work.ts'
import { maxWork, Work } from './work-budget.ts'

export type { CallFacts, Facts, McpFacts, RequestFacts, Scope }
export type ResultType = 'bool' | 'string'

export interface Expression<T extends boolean | string, F = Facts> {
  readonly text: string
  /** Whether it reads request.country or request.asn, which need a database. */
  readonly needsGeo: boolean
  /** Whether it reads request.path, which may have several readings. */
  readonly readsPath: boolean
  /** Whether it reads the model of an AI call, which may be unknown. */
  readonly readsModel: boolean
  /** Steps for a usual request, summed up over all conditions: see `maxWork`. */
  readonly work: number
  /** Null if it failed (a missing key, or too little work left). Never throws. `path` overrides the facts. */
  evaluate(facts: F, work?: Work, path?: string): T | null
}

export interface ExpressionFlaw {
  readonly message: string
  readonly line: number
  readonly column: number
}

const maxBytes = 4096
type AnyExpression =
  | Expression<boolean>
  | Expression<string>
  | Expression<boolean, CallFacts>
  | Expression<boolean, ClaimFacts>
  | Expression<boolean, McpFacts>
const compiled = new Memo<AnyExpression>(4000)

/** Compiles at most 4 KiB. A header that was not sent is a missing key, as always in CEL. */
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
  return compileOnce(`${scope} ${type} ${text}`, () =>
    type === 'bool'
      ? compile<boolean, Facts>(text, scope, booleans, requestVariables)
      : compile<string, Facts>(text, scope, strings, requestVariables),
  ) as Expression<boolean> | Expression<string> | ExpressionFlaw
}

/** Compiles a condition about AI calls, as `compileExpression` does one about requests. */
export function compileCallCondition(text: string): Expression<boolean, CallFacts> | ExpressionFlaw {
  return compileOnce(`call bool ${text}`, () =>
    compile<boolean, CallFacts>(text, 'call', booleans, facts => new CallVariables(facts)),
  ) as Expression<boolean, CallFacts> | ExpressionFlaw
}

/** Compiles a condition about the claims of a token, as `compileExpression` does one about requests. */
export function compileClaimCondition(text: string): Expression<boolean, ClaimFacts> | ExpressionFlaw {
  return compileOnce(`claims bool ${text}`, () =>
    compile<boolean, ClaimFacts>(text, 'claims', booleans, facts => new ClaimVariables(facts)),
  ) as Expression<boolean, ClaimFacts> | ExpressionFlaw
}

/** Compiles a condition about a request to an MCP server, as `compileExpression` does one about requests. */
export function compileMcpCondition(text: string): Expression<boolean, McpFacts> | ExpressionFlaw {
  return compileOnce(`mcp bool ${text}`, () =>
    compile<boolean, McpFacts>(text, 'mcp', booleans, facts => new McpVariables(facts)),
  ) as Expression<boolean, McpFacts> | ExpressionFlaw
}

export function describeFlaw(flaw: ExpressionFlaw): string {
  return `must be a CEL expression; line ${flaw.line}, column ${flaw.column}: ${flaw.message}`
}

function compileOnce(
  key: string,
  make: () => AnyExpression | ExpressionFlaw,
): AnyExpression | ExpressionFlaw {
  const cached = compiled.get(key)
  if (cached !== undefined) return cached
  const result = make()
  if ('evaluate' in result) compiled.set(key, result)
  return result
}

/** A type by its name in the language and in JavaScript. */
interface ResultKind {
  readonly name: ResultType
  readonly type: 'boolean' | 'string'
}

const booleans: ResultKind = { name: 'bool', type: 'boolean' }
const strings: ResultKind = { name: 'string', type: 'string' }

type VariablesOf<F> = (facts: F, path?: string) => object

function requestVariables(facts: Facts, path?: string): Variables {
  return new Variables(facts, path)
}

function compile<T extends boolean | string, F>(
  text: string,
  language: Language,
  { name, type }: ResultKind,
  variablesOf: VariablesOf<F>,
): Expression<T, F> | ExpressionFlaw {
  if (text.trim() === '') return flawAt(text, 0, 'it is empty')
  if (Buffer.byteLength(text) > maxBytes) return flawAt(text, 0, 'it is longer than 4 KiB')
  try {
    const run = parseFor(language, text)
    const checked = run.check()
    if (!checked.valid) return flawOf(text, checked.error)
    const { flaw, readsGeo, readsPath, readsModel, work } = survey(run.ast)
    if (flaw !== null) return flawAt(text, flaw.node.pos, flaw.message)
    if (checked.type !== name) return flawAt(text, 0, `it returns ${checked.type} but must return ${name}`)
    if (work > maxWork.rules.api) return flawAt(text, 0, 'it could take too many steps for one request')
    const facts = { text, needsGeo: readsGeo, readsPath, readsModel, work }
    return new Compiled<T, F>(facts, (facts, path) => run(variablesOf(facts, path)), type)
  } catch (error) {
    return flawOf(text, error)
  }
}

class Compiled<T extends boolean | string, F> implements Expression<T, F> {
  readonly text: string
  readonly needsGeo: boolean
  readonly readsPath: boolean
  readonly readsModel: boolean
  readonly work: number
  readonly #run: (facts: F, path?: string) => unknown
  readonly #type: string

  constructor(
    { text, needsGeo, readsPath, readsModel, work }: Omit<Expression<T>, 'evaluate'>,
    run: (facts: F, path?: string) => unknown,
    type: ResultKind['type'],
  ) {
    this.text = text
    this.needsGeo = needsGeo
    this.readsPath = readsPath
    this.readsModel = readsModel
    this.work = work
    this.#run = run
    this.#type = type
  }

  evaluate(facts: F, work = new Work(), path?: string): T | null {
    if (!work.take(beginning)) return null
    // The stack trace of a failure is never shown, and would be most of its cost.
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = 0
    try {
      useWork(work)
      const value = this.#run(facts, path)
      return typeof value === this.#type ? (value as T) : null
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

/** An unintended error (a stack overflow) has no position in the text. */
function flawOf(text: string, error: unknown): ExpressionFlaw {
  const { code, summary, range } = (error ?? {}) as PackageError
  if (code === 'limit_exceeded')
    return flawAt(text, range?.start ?? 0, 'it has too many parts or is nested too deeply')
  if (code === 'unknown_variable' && /: mcp$/.test(summary ?? ''))
    return flawAt(text, range?.start ?? 0, 'only rules of MCP servers know mcp, which come after the gates')
  return flawAt(text, range?.start ?? 0, readable(summary ?? 'it cannot be parsed'))
}

function flawAt(text: string, offset: number, message: string): ExpressionFlaw {
  const before = text.slice(0, Math.max(0, offset)).split('\n')
  return { message, line: before.length, column: before.at(-1)!.length + 1 }
}

const maxMessageLength = 160
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

function readable(summary: string): string {
  const line = summary
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/\b[A-Z]{3,}\b/g, name => tokens[name] ?? name)
    .slice(0, maxMessageLength)
  return line.charAt(0).toLowerCase() + line.slice(1)
}
