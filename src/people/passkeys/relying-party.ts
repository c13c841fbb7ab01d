// For whom passkeys sign: the host of the pages (WebAuthn, relying party identifier).

import { isIP } from 'node:net'

/** The origin of the pages, and its host, which is the identifier. */
export interface RelyingParty {
  readonly origin: string
  readonly host: string
}

/** Why browsers offer no passkeys there: WebAuthn needs https or localhost, and a name. */
export type NoPasskeys = 'address' | 'plain_http'

/** Returns for whom passkeys sign at an origin without a trailing slash, or why there are none. */
export function relyingPartyAt(origin: string): RelyingParty | NoPasskeys {
  const { protocol, hostname: host } = new URL(origin)
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0) return 'address'
  const isLocal = host === 'localhost' || host.endsWith('.localhost')
  return protocol === 'https:' || isLocal ? { origin, host } : 'plain_http'
}
