// Validates the body of a custom error rule, and shows rules in responses.

import {
  type ErrorRule,
  errorContentTypes,
  maxRuleContent,
} from '../../../config/model/custom-errors-config.ts'
import { expressionWork } from '../../../config/shape/rule-cost.ts'
import type { KeptErrorRule } from '../../../store/records/zone-lists.ts'
import type { Field } from '../../http/field.ts'
import { besideRule, type ReadRule, readDescription, readExpression } from '../rules/rule-members.ts'
import type { Zones } from '../../facts/zone-facts.ts'

/** Reads a rule; it must not be used if the field records a fault. */
export function readErrorRule(field: Field, zones: Pick<Zones, 'hasGeo'>): ReadRule<ErrorRule> {
  const members = field.members(
    ['expression', 'content', 'content_type'],
    ['status_code', 'description', ...besideRule],
  )
  const { expression, content, content_type, status_code, description, id, position } = members
  const rule: ErrorRule = {
    expression: readExpression(expression, 'error', zones.hasGeo()),
    content: content.ruled(contentFault) ?? '',
    contentType: content_type.oneOf(errorContentTypes) ?? 'text/plain',
    status: status_code.value === null ? null : status_code.integer(400, 999),
    description: readDescription(description),
  }
  return { rule, id, position }
}

export function viewErrorRule({ id, expression, content, contentType, status, description }: KeptErrorRule) {
  return { id, expression, content, content_type: contentType, status_code: status, description }
}

export function errorRuleWork({ expression }: ErrorRule): number {
  return expressionWork(expression, 'error', 'bool')
}

function contentFault(content: string): string | null {
  const bytes = Buffer.byteLength(content)
  if (bytes < 1 || bytes > maxRuleContent) return `must have 1 to ${maxRuleContent} bytes in UTF-8`
  return content.isWellFormed() ? null : 'must not contain lone surrogates'
}
