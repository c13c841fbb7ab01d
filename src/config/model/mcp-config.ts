// An MCP server behind a route, and what those who pass its gates may ask of it.

import type { RateLimitConfig } from './limit-config.ts'

export interface McpConfig {
  readonly bodyLimit: number // bytes of a message, which is read before it is sent on
  readonly origins: readonly string[] // sites whose pages may call it besides its own, as in Origin; * alone: any
  readonly rules: readonly McpRuleConfig[] // in the order in which they are tried
  readonly otherwise: 'allow' | 'deny' // what no rule decides
}

/** A rule for what all that it sets fits. */
export interface McpRuleConfig {
  readonly methods: readonly string[] | null // patterns; null: any method
  readonly targets: readonly McpTargetPattern[] | null // of which one must fit; null: any, or none
  readonly condition: string | null // CEL, a bool
  readonly action: 'allow' | 'deny' | null // null: the rules that follow decide
  readonly scopes: readonly string[] // of which the token must have all
  readonly rate: RateLimitConfig | null // for each that a gate lets in
}

export interface McpTargetPattern {
  readonly kind: 'tool' | 'prompt' | 'resource'
  readonly pattern: string
}
