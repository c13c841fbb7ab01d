// The names of scopes and counters, as the store has them.

/** Requests to hosts without a zone. */
export const noZone = 'none'
/** Requests to AI hosts whose gateway is unknown. */
export const noGateway = 'ai'

/** The name of refusals by a ban, rather than by a rule of an access policy. */
export const banHits = 'ban'
export const defaultHits = 'default'

/** Returns the name of requests that exceed a rate limit. */
export function rateLimitHits(name: string): string {
  return `rule ${name}`
}

/** Returns the name of requests that exceed a quota of a zone. */
export function quotaHits(window: 'day' | 'month'): string {
  return `quota ${window}`
}

export function zoneScope(zone: string): string {
  return `zone ${zone}`
}

/** Whether a scope belongs to a zone. */
export function isZoneScope(scope: string): boolean {
  return scope.startsWith('zone ')
}

/** Returns the scope of an account's AI gateways, in which errors are named by `gatewayError`. */
export function gatewaysScope(account: string): string {
  return `ai ${account}`
}

export function gatewayError(code: number, gateway: string): string {
  return `${code} ${gateway}`
}

/** Returns the scope of an account's budgets, in which refused calls are named by `budgetHits`. */
export function budgetsScope(account: string): string {
  return `budgets ${account}`
}

/** Returns the scope of an account's guards, in which calls without a verdict are named by their gateway. */
export function guardsScope(account: string): string {
  return `guards ${account}`
}

/** `owner`: the gateway or the token whose rule refuses; policies and routes belong to their gateway. */
export function budgetHits(
  kind: 'gateway' | 'token' | 'policy' | 'route',
  owner: string,
  rule: string,
): string {
  return `${kind} ${owner} ${rule}`
}

/** Parses the name of an error; the gateway is null outside of AI gateways. */
export function readError(name: string): { readonly code: number; readonly gateway: string | null } {
  const [code, gateway = null] = name.split(' ')
  return { code: Number(code), gateway }
}

/** Returns the scope of a route to an MCP server, in which counts are named by `mcpCount`. */
export function mcpScope(zone: string, route: string): string {
  return `mcp ${JSON.stringify([zone, route])}`
}

/**
 * What is counted of a route to an MCP server: messages by their result, their time in ms, requests by who
 * sent them, and refused messages by why.
 */
export type McpCount =
  | readonly [what: 'message', method: string, name: string, result: string]
  | readonly [what: 'time', method: string, name: string]
  | readonly [what: 'caller', subject: string, result: string]
  | readonly [what: 'refusal', method: string, name: string, reason: string]

export function mcpCount(count: McpCount): string {
  return JSON.stringify(count)
}

/** Parses the name of a count. */
export function readMcpCount(name: string): McpCount {
  return JSON.parse(name)
}
