// Endpoints as URLs that a person on this machine can open: in the banner, and where errors are documented.

import { isIPv6 } from 'node:net'
import type { Endpoint } from '../config/config.ts'

/** Returns the address at which this machine reaches who listens at one: that of loopback where it stands for all. */
export function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** Writes the endpoint as a URL without a slash at the end; an address that stands for all is shown as `localhost`. */
export function urlOf({ host, port }: Endpoint): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}
