// A custom error rule, checked and compiled.

import { compileExpression, describeFlaw, type Expression } from '../../expression/expression.ts'
import { type ErrorRule, errorContentTypes, maxRuleContent } from '../../config/model/custom-errors-config.ts'
import { CustomContent } from './custom-content.ts'

export interface CompiledRule {
  readonly expression: Expression<boolean>
  readonly content: CustomContent
}

interface RuleFlaw {
  readonly member: 'expression' | 'content' | 'contentType' | 'status'
  readonly message: string
}

/** Compiles a rule, or lists all mistakes in it. */
export function compileErrorRule(rule: ErrorRule): CompiledRule | readonly RuleFlaw[] {
  const expression = compileExpression(rule.expression, 'error', 'bool')
  const flaws = flawsOf(rule)
  if (!('evaluate' in expression)) flaws.unshift({ member: 'expression', message: describeFlaw(expression) })
  else if (flaws.length === 0)
    return { expression, content: new CustomContent('rule', rule.content, rule.contentType, rule.status) }
  return flaws
}

function flawsOf({ content, contentType, status }: ErrorRule): RuleFlaw[] {
  const flaws: RuleFlaw[] = []
  if (Buffer.byteLength(content) > maxRuleContent)
    flaws.push({ member: 'content', message: `must have at most ${maxRuleContent} bytes` })
  if (!errorContentTypes.includes(contentType))
    flaws.push({ member: 'contentType', message: `must be one of ${errorContentTypes.join(', ')}` })
  if (status !== null && !(Number.isInteger(status) && status >= 400 && status <= 999))
    flaws.push({ member: 'status', message: 'must be a whole number from 400 to 999' })
  return flaws
}
