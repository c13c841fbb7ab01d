// Which host a client has proven to be its publisher's, as far as people may be told so, and what that says nothing of.

import { hostsNamedIn } from '../../domains/host.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

/** Returns the host of client_uri, in lower case and as punycode, once DNS has verified it; null before, and for a client that names none any more. */
export function provenHostOf({
  clientUri,
  verification,
}: Pick<OAuthClient, 'clientUri' | 'verification'>): string | null {
  return clientUri !== null && verification?.status === 'verified' ? verification.host : null
}

/** Whether it is known whose a client is, so that a link alone may lead people on to it: it is public, which needs a proven host, or has proven one. */
export function hasKnownPublisher(
  client: Pick<OAuthClient, 'visibility' | 'clientUri' | 'verification'>,
): boolean {
  return client.visibility === 'public' || provenHostOf(client) !== null
}

/** Whether a redirect leads to a proven host, or to a name below it, which belongs to its owner too; not to a program or app of a device. */
export function leadsToProven(redirectUri: string, proven: string): boolean {
  const url = URL.parse(redirectUri)
  return url?.protocol === 'https:' && isWithin(url.hostname, proven)
}

/** Returns a host that the name of a client names although the client has proven another one; null for none. */
export function otherHostIn(name: string, proven: string): string | null {
  return hostsNamedIn(name).find(host => !isWithin(host, proven) && !isWithin(proven, host)) ?? null
}

function isWithin(host: string, parent: string): boolean {
  return host === parent || host.endsWith(`.${parent}`)
}
