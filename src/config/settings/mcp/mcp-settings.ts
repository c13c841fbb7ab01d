// The settings of an MCP server behind a route.

import { MiB } from '../../../base/units.ts'
import type { Findings } from '../../file/mistake.ts'
import type { McpConfig } from '../../model/mcp-config.ts'
import { refuseRepeats } from '../../shape/name-checks.ts'
import { oneOf, size } from '../../shape/rules.ts'
import {
  list,
  mapping,
  optional,
  type Placed,
  placed,
  scalar,
  switched,
  type Value,
} from '../../shape/shape.ts'
import { corsOrigin } from '../ai-rules.ts'
import { mcpRule, type OfMcpRules, resolveMcpRules } from './mcp-rules.ts'

/** Null for a route to something else. */
export const mcp = switched(
  mapping({
    body: optional(scalar(size(0, 64 * MiB)), 4 * MiB),
    origins: optional(list(placed(scalar(corsOrigin))), []),
    rules: optional(list(placed(mcpRule), { max: 1000 }), []),
    otherwise: optional(scalar(oneOf('allow', 'deny')), 'allow' as const),
  }),
)

export function resolveMcp(
  setting: Placed<Value<typeof mcp>> | null,
  of: OfMcpRules,
  findings: Findings,
): McpConfig | null {
  if (setting === null || setting.value === null) return null
  const { body, origins, rules, otherwise } = setting.value
  if (of.protect?.some(gate => gate.kind === 'jwt' && gate.forwardToken))
    findings.flaw(
      setting,
      'must not be behind a jwt gate with forward_token: the protocol forbids passing tokens of clients on',
    )
  refuseRepeats(origins, 'an origin can be listed only once', findings)
  const all = origins.find(({ value }) => value === '*')
  if (all !== undefined && origins.length > 1) findings.flaw(all, 'cannot be combined with other origins')
  return {
    bodyLimit: body,
    origins: origins.map(({ value }) => value),
    rules: resolveMcpRules(rules, of, findings),
    otherwise,
  }
}
