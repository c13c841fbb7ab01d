// Formats endpoints as URLs that a person on this machine can open.

import { isIPv6 } from 'node:net'
import type { Endpoint } from '../config/config.ts'

/** Returns the address at which this machine reaches a listener: loopback for a wildcard address. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** Writes the endpoint as a URL without a trailing slash; a wildcard address is shown as `localhost`. */
export function urlOf({ host, port }: Endpoint): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}
