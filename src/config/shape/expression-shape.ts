// CEL expressions as settings: compiled to validate them, kept as text.

import {
  compileClaimCondition,
  compileExpression,
  compileMcpCondition,
  describeFlaw,
  type ExpressionFlaw,
  type ResultType,
  type Scope,
} from '../../expression/expression.ts'
import { describe } from '../file/references.ts'
import { scalar, type Shape } from './shape.ts'
import type { Scalar } from '../file/tree.ts'

export interface ExpressionSettings {
  readonly text: string
  readonly needsGeo: boolean
  readonly work: number
}

/** Reads an expression; its flaw is at the exact character if the file contains it. */
export function expression(scope: Scope, type: ResultType): Shape<ExpressionSettings> {
  return expressionOf(text => compile(text, scope, type))
}

/** Reads a condition about the claims of a token. */
export const claimCondition = (): Shape<ExpressionSettings> => expressionOf(compileClaimCondition)

/** Reads a condition about a request to an MCP server. */
export const mcpCondition = (): Shape<ExpressionSettings> => expressionOf(compileMcpCondition)

type Compiled = ExpressionSettings | ExpressionFlaw

function expressionOf(compile: (text: string) => Compiled): Shape<ExpressionSettings> {
  return {
    read(tree, context) {
      const text = anyText.read(tree, context)
      if (text === undefined) return undefined
      const compiled = compile(text)
      if ('needsGeo' in compiled) return { text, needsGeo: compiled.needsGeo, work: compiled.work }
      const { place, flaw } = locate(compiled, text, tree as Scalar)
      return context.findings.flaw(place, flaw)
    },
    form: () => anyText.form(),
  }
}

const anyText = scalar(text => ({ value: text }))

function compile(text: string, scope: Scope, type: ResultType) {
  return type === 'bool' ? compileExpression(text, scope, 'bool') : compileExpression(text, scope, 'string')
}

function locate(flaw: ExpressionFlaw, text: string, tree: Scalar): { place: Scalar; flaw: string } {
  // A message may quote the expression, and the content of a reference may be secret.
  if (text !== tree.text) {
    const where = `line ${flaw.line}, column ${flaw.column}`
    return {
      place: tree,
      flaw: `must be a CEL expression: ${describe(tree.text)} has an error at ${where}`,
    }
  }
  if (tree.inset === null) return { place: tree, flaw: describeFlaw(flaw) }
  const column = tree.column + tree.inset + flaw.column - 1
  return { place: { ...tree, column }, flaw: `must be a CEL expression: ${flaw.message}` }
}
