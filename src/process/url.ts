// Endpoints as URLs that a person on this machine can open: in the banner, and where errors are documented.

import { isIPv6 } from 'node:net'
import type { Endpoint } from '../config/config.ts'

/** Writes the endpoint as a URL without a slash at the end; an address that stands for all is shown as `localhost`. */
export function urlOf({ host, port }: Endpoint): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}
