// Whether whom the gates let in may ask this of the MCP server.

import type { Glob } from '../../base/text/glob.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import type { McpFacts } from '../../expression/expression.ts'
import { Work } from '../../expression/work-budget.ts'
import type { McpTarget } from '../../mcp/message.ts'
import { challengeOf } from '../../oauth/grants/protected-resource.ts'
import { type Claims, scopesIn } from '../../protect/claims.ts'
import type { Exchange, Verdict } from '../exchange/exchange.ts'
import type { McpExchange } from '../exchange/mcp-exchange.ts'
import { meterMessages } from '../meter/meter.ts'
import { describedResource } from '../protect/protect.ts'
import type { MeterRule } from '../snapshot/limit-rules.ts'
import type { McpRule, McpRules } from '../snapshot/mcp-rules.ts'
import { operationsIn } from './operations.ts'
import { refuseByRule, withoutScopes } from './refusals.ts'

/**
 * Refuses what a rule denies, what none allows where that is needed, and a token that lacks scopes (403), and
 * what is asked too often (1015).
 */
export function permit(x: Exchange): Verdict {
  if (x.mcp === null || x.mcp.request === null) return null
  const { mcpRules } = x.route!
  return mcpRules === null ? null : judge(x, x.mcp, mcpRules)
}

function judge(x: Exchange, { request, allowedBy }: McpExchange, { rules, otherwise }: McpRules): Verdict {
  const claims = x.admission?.claims ?? noClaims
  const scopes = new Set<string>()
  const rates: MeterRule[] = []
  const searches = new Work(maxSearches)
  for (const { method, targets, isPreliminary } of operationsIn(request!)) {
    const counted = new Set<MeterRule>()
    for (const target of targets) {
      const fitting = rulesFor(x, factsOf(method, target, request!.version, claims), target, {
        rules,
        searches,
      })
      const { action: last = null, number = 0 } = fitting.at(-1) ?? {}
      if (last === 'deny') return refuseByRule(number)
      if (last === null && otherwise === 'deny' && !isPreliminary) return refuseByRule(null)
      if (last === 'allow' && !allowedBy.includes(number)) allowedBy.push(number)
      for (const rule of fitting) {
        for (const scope of rule.scopes) scopes.add(scope)
        if (rule.rate !== null) counted.add(rule.rate)
      }
    }
    rates.push(...counted)
  }
  if (!scopes.isSubsetOf(new Set(scopesIn(claims)))) return refuseScopes(x, scopes)
  return rates.length === 0 ? null : meterMessages(x, rates)
}

/** Returns the rules that fit, up to the one that decides. */
function rulesFor(
  x: Exchange,
  facts: McpFacts,
  target: McpTarget | null,
  { rules, searches }: { readonly rules: readonly McpRule[]; readonly searches: Work },
): readonly McpRule[] {
  const fitting: McpRule[] = []
  for (const rule of rules) {
    if (!concerns(rule, facts.mcp.method, target, searches) || !applies(x, rule, facts)) continue
    fitting.push(rule)
    if (rule.action !== null) break
  }
  return fitting
}

/** Steps for the patterns of all rules, about 10 ms: a request may have many long names. */
const maxSearches = { file: 400_000, api: 0 }

/** A rule whose patterns would take too long concerns what it forbids or demands, and not what it allows. */
function concerns(rule: McpRule, method: string, target: McpTarget | null, searches: Work): boolean {
  const { methods, targets, action } = rule
  const ofKind = targets?.filter(({ kind }) => kind === target?.kind) ?? null
  const isOf = methods === null || isAmong(methods, method, searches)
  if (isOf === false || ofKind === null) return isOf ?? action !== 'allow'
  const isAbout = isAmong(
    ofKind.map(({ glob }) => glob),
    target?.name ?? '',
    searches,
  )
  return isAbout === false ? false : ((isOf && isAbout) ?? action !== 'allow')
}

/** Null if too few steps are left to tell. */
function isAmong(globs: readonly Glob[], text: string, searches: Work): boolean | null {
  for (const glob of globs) {
    if (!searches.take(glob.workFor(text.length))) return null
    if (glob.matches(text)) return true
  }
  return false
}

/** A condition that fails is true where it forbids or demands, and false where it allows. */
function applies(x: Exchange, { condition, action }: McpRule, facts: McpFacts): boolean {
  if (condition === null) return true
  const holds = condition.evaluate(facts, x.work)
  return action === 'allow' ? holds === true : holds !== false
}

function factsOf(method: string, target: McpTarget | null, version: string, claims: Claims): McpFacts {
  const nameOf = (kind: McpTarget['kind']) => (target?.kind === kind ? target.name : '')
  const mcp = {
    method,
    tool: nameOf('tool'),
    prompt: nameOf('prompt'),
    resource: nameOf('resource'),
    version,
  }
  return { mcp, claims }
}

const noClaims: Claims = {}

/** Names all that the request takes, with what the gates demand: a client asks for that at once. */
function refuseScopes(x: Exchange, demanded: ReadonlySet<string>): Refusal {
  const gates = (x.route!.config.protect ?? []).flatMap(gate =>
    gate.kind === 'token' && 'scopes' in gate.accepts ? gate.accepts.scopes : [],
  )
  const resource = describedResource(x)
  const scope = [...new Set([...gates, ...demanded])].join(' ')
  x.addedLines += `WWW-Authenticate: ${challengeOf({ resource, scope, error: 'insufficient_scope' })}\r\n`
  return withoutScopes
}
