// Formats endpoints as URLs that a person on this machine can open.

import { isIPv6 } from 'node:net'
import type { Config, Endpoint, Listener } from '../../config/model/config.ts'
import { isWildcard } from '../../config/resolve/listeners.ts'
import { isLoopback } from '../../config/shape/host-rules.ts'

export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

export function urlOf({ host, port, tls }: Endpoint & Partial<Listener>): string {
  const scheme = tls === true ? 'https' : 'http'
  const name = isIPv6(host) ? `[${host}]` : host
  return `${scheme}://${isWildcard(host) ? 'localhost' : name}:${port}`
}

export function issuerOf({ oauth }: Pick<Config, 'oauth'>, sidePort: Endpoint): string | null {
  return oauth.issuer ?? (isLoopback(sidePort.host) || isWildcard(sidePort.host) ? urlOf(sidePort) : null)
}
