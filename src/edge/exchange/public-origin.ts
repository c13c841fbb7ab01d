// The scheme and host by which the client reaches the edge, or a trusted hop before it.

import { hostName } from '../../http1/fields/host.ts'
import type { Exchange } from './exchange.ts'

/** Returns `https://host`; null if the host is malformed. */
export function publicOrigin(x: Exchange): string | null {
  const host = publicHost(x)
  if (host === null || hostName(host) === null) return null
  return `${x.scheme === 'https' ? 'https' : 'http'}://${host.toLowerCase()}`
}

/** Returns the host as it was sent, with its port. */
export function publicHost({ head, forwarded }: Exchange): string | null {
  return forwarded?.host ?? head.host
}
