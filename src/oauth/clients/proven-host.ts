// The host that a client has proven to be its publisher's, as far as people may be told: by DNS, or as it has
// its document there.

import { hostsNamedIn } from '../../domains/host.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

/** Returns the host, in lower case and as punycode; null if there is none. */
export function provenHostOf({
  clientUri,
  verification,
  document,
}: Pick<OAuthClient, 'clientUri' | 'verification' | 'document'>): string | null {
  if (document !== undefined) return new URL(document.url).hostname
  return clientUri !== null && verification?.status === 'verified' ? verification.host : null
}

/**
 * Whether the publisher of a client is known, so that a link alone may lead people to it: the client is
 * public, which needs a proven host, or has proven one. Anybody may publish a document.
 */
export function hasKnownPublisher(
  client: Pick<OAuthClient, 'visibility' | 'clientUri' | 'verification' | 'document'>,
): boolean {
  return client.document === undefined && (client.visibility === 'public' || provenHostOf(client) !== null)
}

/** Returns the name by which a client is listed: one that comes from a document is only a claim. */
export function shownNameOf(
  client: Pick<OAuthClient, 'name' | 'clientUri' | 'verification' | 'document'>,
): string {
  const { name, document } = client
  return document === undefined ? name : `${provenHostOf(client)} (${name})`
}

/**
 * Whether a redirect leads to a proven host or a name below it, which has the same owner; never to a program
 * or app on a device.
 */
export function leadsToProven(redirectUri: string, proven: string): boolean {
  const url = URL.parse(redirectUri)
  return url?.protocol === 'https:' && isWithin(url.hostname, proven)
}

/** Returns a host in a client's name that differs from the proven one, or null. */
export function otherHostIn(name: string, proven: string): string | null {
  return hostsNamedIn(name).find(host => !isWithin(host, proven) && !isWithin(proven, host)) ?? null
}

function isWithin(host: string, parent: string): boolean {
  return host === parent || host.endsWith(`.${parent}`)
}
