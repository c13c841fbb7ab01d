// The scopes that things are counted in, as the store names them.

/** Requests to hosts of no zone. */
export const noZone = 'none'
/** Requests to AI hosts whose gateway is not known. */
export const noGateway = 'ai'

/** The names of refusals by an access policy for which no rule stands. */
export const banHits = 'ban'
export const defaultHits = 'default'

/** Returns the name of requests over a rate limit. */
export function rateLimitHits(name: string): string {
  return `rule ${name}`
}

/** Returns the name of requests over a quota of a zone. */
export function quotaHits(window: 'day' | 'month'): string {
  return `quota ${window}`
}

/** Returns the scope of a zone. */
export function zoneScope(zone: string): string {
  return `zone ${zone}`
}

/** Whether a scope is that of a zone. */
export function isZoneScope(scope: string): boolean {
  return scope.startsWith('zone ')
}

/** Returns the scope of the AI gateways of an account: their errors are named by `gatewayError`. */
export function gatewaysScope(account: string): string {
  return `ai ${account}`
}

/** Returns the name of an error at a gateway. */
export function gatewayError(code: number, gateway: string): string {
  return `${code} ${gateway}`
}

/** Reads the name of an error: the gateway is null outside of AI gateways. */
export function readError(name: string): { readonly code: number; readonly gateway: string | null } {
  const [code, gateway = null] = name.split(' ')
  return { code: Number(code), gateway }
}
