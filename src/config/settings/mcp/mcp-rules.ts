// The rules of an MCP server: who may ask what of it, with which scopes, and how often.

import { Glob } from '../../../base/text/glob.ts'
import { type Findings, stepInto } from '../../file/mistake.ts'
import type { RateLimitConfig } from '../../model/limit-config.ts'
import type { McpRuleConfig, McpTargetPattern } from '../../model/mcp-config.ts'
import type { ProtectConfig } from '../../model/protect-config.ts'
import { mcpCondition } from '../../shape/expression-shape.ts'
import { refuseRepeats, refuseUnknown } from '../../shape/name-checks.ts'
import { limitWork, type WorkSum } from '../../shape/rule-cost.ts'
import { matching, oneOf } from '../../shape/rules.ts'
import { mapping, oneOrMore, optional, type Placed, placed, scalar, type Value } from '../../shape/shape.ts'
import { limitName, rate } from '../limit-settings.ts'
import { refuseUnknownRoles, scopeName } from '../protect-settings.ts'

const pattern = matching(/^\P{Cc}{1,512}$/u, 'must be a name, in which * stands for any text')
/** Many resources have URIs that begin with file: */
const patterns = optional(oneOrMore(scalar(pattern, { literal: true }), { min: 1 }), null)

export const mcpRule = mapping({
  name: optional(placed(scalar(limitName)), null),
  methods: patterns,
  tools: patterns,
  prompts: patterns,
  resources: patterns,
  when: optional(placed(mcpCondition()), null),
  action: optional(placed(scalar(oneOf('allow', 'deny'))), null), // null: the rules that follow decide
  scopes: optional(placed(oneOrMore(placed(scalar(scopeName)), { min: 1 })), null),
  rate: optional(placed(scalar(rate)), null),
})

type RuleSettings = Value<typeof mcpRule>

/** What the rules of a route go by. */
export interface OfMcpRules {
  readonly protect: ProtectConfig | null
  /** Those that the operator defines. */
  readonly scopes: readonly string[]
  readonly work: WorkSum
}

export function resolveMcpRules(
  rules: readonly Placed<RuleSettings>[],
  of: OfMcpRules,
  findings: Findings,
): McpRuleConfig[] {
  return rules.map(({ value, ...place }) => {
    const { methods, when, action, scopes, rate } = value
    of.work.add(workOf(value), place)
    const isUnclear = ['action', 'scopes', 'rate'].some(key => findings.concern(stepInto(place.path, key)))
    if (action === null && scopes === null && rate === null && !isUnclear)
      findings.flaw(place, 'decides nothing: set action, scopes or rate')
    for (const demand of [scopes, rate])
      if (demand !== null && action?.value === 'deny')
        findings.flaw(demand, 'means nothing where action is deny')
    if (scopes !== null && action?.value !== 'deny') checkScopes(scopes, of, findings)
    if (when !== null) checkRoles(when, of, findings)
    return {
      methods,
      targets: targetsOf(value),
      condition: when?.value.text ?? null,
      action: action?.value ?? null,
      scopes: scopes?.value.map(({ value }) => value) ?? [],
      rate: rateOf(value, place.line, findings),
    }
  })
}

function targetsOf({ tools, prompts, resources }: RuleSettings): readonly McpTargetPattern[] | null {
  if (tools === null && prompts === null && resources === null) return null
  const of = (kind: McpTargetPattern['kind'], patterns: readonly string[] | null) =>
    (patterns ?? []).map(pattern => ({ kind, pattern }))
  return [...of('tool', tools), ...of('prompt', prompts), ...of('resource', resources)]
}

function rateOf({ name, rate }: RuleSettings, line: number, findings: Findings): RateLimitConfig | null {
  if (rate === null) {
    if (name !== null) findings.flaw(name, 'is that of a rate: set rate')
    return null
  }
  if (name === null) {
    findings.flaw(rate, 'needs a name, by which clients, metrics and logs know it')
    return null
  }
  return { name: name.value, ...rate.value, key: [{ by: 'subject' }], when: null, action: 'block', line }
}

/** A token has scopes if an issuer gives it any. */
function checkScopes(
  { value: scopes, ...place }: NonNullable<RuleSettings['scopes']>,
  { protect, scopes: known }: OfMcpRules,
  findings: Findings,
): void {
  const gates = protect ?? []
  const isForeign = gates.some(({ kind }) => kind === 'jwt')
  const isOurs = gates.some(gate => gate.kind === 'token' && 'scopes' in gate.accepts)
  if (!isForeign && !isOurs)
    findings.flaw(place, 'needs a gate for tokens with scopes: jwt, or token with scopes')
  else if (!isForeign) for (const scope of scopes) refuseUnknown(scope, known, 'a scope', findings)
  refuseRepeats(scopes, 'a scope can be listed only once', findings)
}

/** A rule that denies a role that nobody has would deny nobody; roles of foreign tokens are not known. */
function checkRoles(
  when: NonNullable<RuleSettings['when']>,
  { protect }: OfMcpRules,
  findings: Findings,
): void {
  if (protect === null || protect.some(({ kind }) => kind === 'jwt')) return
  const lacksAccount = protect.some(
    gate => gate.kind === 'token' && 'scopes' in gate.accepts && gate.accepts.account === null,
  )
  if (lacksAccount && /\bclaims(?:\.roles\b|\[["']roles["']\])/.test(when.value.text))
    return findings.flaw(when, 'with claims.roles needs account in the zone, of which the roles are')
  refuseUnknownRoles(when, findings)
}

/** Characters of a usual name. */
const typicalName = 64

function workOf({ methods, tools, prompts, resources, when, rate }: RuleSettings): number {
  const all = [methods, tools, prompts, resources].flatMap(patterns => patterns ?? [])
  const searching = all.reduce((sum, pattern) => sum + new Glob(pattern).workFor(typicalName), 4)
  return searching + (when?.value.work ?? 0) + (rate === null ? 0 : limitWork)
}
