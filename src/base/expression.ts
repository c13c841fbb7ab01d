// Operators' conditions in CEL, the Common Expression Language: compiled and checked once, asked at each request. Called by config, access, errors and admin.

/** What an expression may look at; a member is read only where the expression does. */
export interface Facts {
  readonly request: RequestFacts
  /** The status that would be sent; null outside of error rules. */
  readonly response: { readonly code: number } | null
  readonly error: { readonly code: number; readonly name: string; readonly category: string } | null
  /** The name of the zone, empty for none. */
  readonly zone: string
}

export interface RequestFacts {
  readonly method: string
  /** In lower case, without port. */
  readonly host: string
  /** As sent, without query. */
  readonly path: string
  /** Without the question mark; empty for none. */
  readonly query: string
  /** By lower-case names. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly ip: string
  /** ISO 3166-1 alpha-2; empty when unknown. */
  readonly country: string
  /** 0 when unknown. */
  readonly asn: number
  readonly tls: boolean
}

/** Whose variables an expression may use: `request` has request.* and zone, `error` also response.* and error.*. */
export type Scope = 'request' | 'error'
export type ResultType = 'bool' | 'string'

export interface Expression<T extends boolean | string> {
  readonly text: string
  /** Whether it reads request.country or request.asn, which need a database. */
  readonly needsGeo: boolean
  /** Evaluates; null when it failed (a missing key, a wrong type, too much work). Never throws. */
  evaluate(facts: Facts): T | null
}

/** Tells what is wrong with a text, and where in it: line and column count from 1. */
export interface ExpressionFlaw {
  readonly message: string
  readonly line: number
  readonly column: number
}

/** Compiles a text of at most 4 KiB that gives a bool, or tells what is wrong with it. */
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
  return { message: `is not taken yet: ${type} of ${scope}, ${text.length} characters`, line: 1, column: 1 }
}

/** Says what a setting must be, given the flaw of what it is. */
export function describeFlaw(flaw: ExpressionFlaw): string {
  return `must be a CEL expression: line ${flaw.line}, column ${flaw.column}: ${flaw.message}`
}
