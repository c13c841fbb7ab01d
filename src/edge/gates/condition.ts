// Compiles the conditions of gates.

import type { ClaimFacts } from '../../expression/claim-facts.ts'
import { compileClaimCondition, type Expression } from '../../expression/expression.ts'

/** Throws if it does not compile, which the configuration has ruled out. */
export function compileCondition(text: string): Expression<boolean, ClaimFacts> {
  const expression = compileClaimCondition(text)
  if ('message' in expression)
    throw new Error(`the condition of a gate failed to compile: ${expression.message}`)
  return expression
}
