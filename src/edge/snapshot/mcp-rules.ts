// The rules of an MCP server, compiled once for all requests.

import { Glob } from '../../base/text/glob.ts'
import type { McpConfig, McpRuleConfig, McpTargetPattern } from '../../config/model/mcp-config.ts'
import { compileMcpCondition, type Expression, type McpFacts } from '../../expression/expression.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import { spellingsOf } from '../../mcp/resource-uri.ts'
import { compileRateLimits, type MeterRule } from './limit-rules.ts'

export interface McpRules {
  readonly rules: readonly McpRule[]
  readonly otherwise: McpConfig['otherwise']
  /** Of the tools and prompts that rules name without a star. */
  readonly names: ReadonlySet<string>
}

export interface McpRule extends Pick<McpRuleConfig, 'action' | 'scopes'> {
  /** From 1, as in the configuration. */
  readonly number: number
  /** Null for any method; null for any target, or none. */
  readonly methods: readonly Glob[] | null
  readonly targets: readonly { readonly kind: McpTargetPattern['kind']; readonly glob: Glob }[] | null
  readonly condition: Expression<boolean, McpFacts> | null
  readonly rate: MeterRule | null
}

/** Null if everything may be asked. Throws if a condition does not compile. */
export function compileMcpRules({ rules, otherwise }: McpConfig, metrics: EdgeMetrics): McpRules | null {
  if (rules.length === 0 && otherwise === 'allow') return null
  const named = rules.flatMap(({ targets }) => targets ?? []).filter(({ kind }) => kind !== 'resource')
  const names = new Set(named.map(({ pattern }) => pattern).filter(pattern => !pattern.includes('*')))
  return { rules: rules.map((rule, i) => compileRule(rule, i + 1, metrics)), otherwise, names }
}

function compileRule(config: McpRuleConfig, number: number, metrics: EdgeMetrics): McpRule {
  const { methods, targets, condition, action, scopes, rate } = config
  return {
    number,
    methods: methods === null ? null : methods.map(exact),
    targets: targets === null ? null : targets.flatMap(compileTarget),
    condition: condition === null ? null : compileCondition(condition),
    action,
    scopes,
    rate: rate && compileRateLimits([rate], metrics)[0]!,
  }
}

/** A resource must be allowed in all spellings, so its pattern has all. A star that is escaped is no star. */
function compileTarget({ kind, pattern }: McpTargetPattern) {
  const spellings = kind === 'resource' ? spellingsOf(pattern) : [pattern]
  const isAlike = (spelling: string) => spelling.split('*').length === pattern.split('*').length
  return spellings.filter(isAlike).map(spelling => ({ kind, glob: exact(spelling) }))
}

function exact(pattern: string): Glob {
  return new Glob(pattern, { isExact: true })
}

function compileCondition(text: string): Expression<boolean, McpFacts> {
  const expression = compileMcpCondition(text)
  if ('message' in expression)
    throw new Error(`a rule of an MCP server failed to compile: ${expression.message}`)
  return expression
}
