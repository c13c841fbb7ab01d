// The scheme and host by which the client reaches the edge, or a trusted hop before it.

import { hostName } from '../../http1/fields/host.ts'
import type { Exchange } from './exchange.ts'

/** Returns `https://host`; null if the host is malformed. */
export function publicOrigin(x: Exchange): string | null {
  const host = publicHost(x)
  if (host === null || hostName(host) === null) return null
  return `${x.scheme === 'https' ? 'https' : 'http'}://${host.toLowerCase()}`
}

/** Likewise; null also for a host of another zone, which a proxy may have let its client claim. */
export function publicOriginInZone(x: Exchange): string | null {
  const claimed = x.forwarded?.host ?? null
  const host = claimed === null ? null : hostName(claimed)
  return claimed !== null && (host === null || x.snapshot.zones.find(host) !== x.zone)
    ? null
    : publicOrigin(x)
}

/** Returns the host as it was sent, with its port. */
export function publicHost({ head, forwarded }: Exchange): string | null {
  return forwarded?.host ?? head.host
}
