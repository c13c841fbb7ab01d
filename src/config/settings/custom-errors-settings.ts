// The settings of custom error rules and error pages.

import {
  type CustomErrorsConfig,
  type ErrorPages,
  errorContentTypes,
  type ErrorRule,
  errorPageTypes,
  hasTooManyTokens,
  maxErrorPage,
  maxRuleContent,
  maxPageTokens,
  type Operator,
} from '../model/custom-errors-config.ts'
import { expression } from '../shape/expression-shape.ts'
import { logoUrl } from '../shape/host-rules.ts'
import { type Findings, stepInto } from '../file/mistake.ts'
import { type RuleData, textOf } from './rule-data.ts'
import type { WorkSum } from '../shape/rule-cost.ts'
import { accept, description, lineOfText, oneOf, whole } from '../shape/rules.ts'
import {
  group,
  list,
  mapping,
  optional,
  type Placed,
  placed,
  type Rule,
  required,
  scalar,
  type Value,
  type Values,
} from '../shape/shape.ts'

/** Accepts text of at most so many bytes in UTF-8. */
function textOfBytes(max: number, shown: string): Rule<string> {
  return text => {
    const bytes = Buffer.byteLength(text)
    return accept(bytes > 0 && bytes <= max ? text : undefined, `must be 1 B to ${shown} of text`)
  }
}

const ruleContent = scalar(textOfBytes(maxRuleContent, '10KiB'), { unprinted: true })

const rule = mapping({
  when: required(placed(expression('error', 'bool'))),
  content: required(placed(ruleContent)),
  content_type: required(scalar(oneOf(...errorContentTypes))),
  status: optional(scalar(whole(400, 999)), null), // null: that of the error
  description: optional(scalar(description), null),
})

const pageContent: Rule<string> = text => {
  const reading = textOfBytes(maxErrorPage, '1.5MB')(text)
  if ('flaw' in reading || !hasTooManyTokens(text)) return reading
  return { flaw: `must have at most ${maxPageTokens} tokens` }
}

const page = optional(scalar(pageContent, { unprinted: true }), null)

const operator = mapping({
  name: optional(scalar(lineOfText(100)), null),
  logo: optional(placed(scalar(logoUrl)), null),
  contact: optional(scalar(lineOfText(200)), null),
})

export const customErrors = {
  rules: optional(list(placed(rule), { max: 1000 }), []),
  pages: group(Object.fromEntries(errorPageTypes.map(type => [type, page]))),
  operator: optional(placed(operator), null),
}

export type ErrorRuleSettings = Value<typeof rule>
type OperatorSettings = Values<typeof customErrors>['operator']

/** Returns the rules and pages of all zones, or of one, which may inherit the operator. */
export function resolveCustomErrors(
  { rules, pages, operator }: Values<typeof customErrors>,
  data: RuleData,
  findings: Findings,
  work: WorkSum,
  operatorOfAll: Operator | null = null,
): CustomErrorsConfig {
  for (const { value, ...place } of rules) work.add(value.when?.value.work ?? 0, place)
  return {
    rules: rules.flatMap(rule => resolveRule(rule, data, findings)),
    pages: Object.fromEntries(Object.entries(pages).filter(([, html]) => html !== null)) as ErrorPages,
    operator: resolveOperator(operator, findings) ?? operatorOfAll,
  }
}

function resolveOperator(operator: OperatorSettings, findings: Findings): Operator | null {
  if (operator === null) return null
  const { name, logo, contact } = operator.value
  const isNamed = name !== null || findings.concern(stepInto(operator.path, 'name'))
  if (logo !== null && !isNamed)
    findings.flaw(logo, 'needs name as well: it is the text alternative of the logo')
  return name === null && contact === null ? null : { name, logo: logo?.value ?? null, contact }
}

function resolveRule(
  { value, line }: Placed<ErrorRuleSettings>,
  data: RuleData,
  findings: Findings,
): ErrorRule[] {
  const { when, content, content_type: contentType, status, description } = value
  const expression = when && textOf(when, data, findings)
  if (expression === null || content === null || contentType === null) return []
  return [{ expression, content: content.value, contentType, status, description, line }]
}
