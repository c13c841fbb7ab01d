// The URLs by which OAuth clients without a registration are known
// (draft-ietf-oauth-client-id-metadata-document).

import { hash } from 'node:crypto'
import { isIP } from 'node:net'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { pageUriFault } from './uri-rules.ts'

/** In bytes; people read it on the consent page. */
const maxLength = 255

/** Whether a `client_id` is meant as the URL of a document: no other id begins like this. */
export function isDocumentUrl(id: string): boolean {
  return id.startsWith('https://')
}

/** Returns the rule that a URL breaks, as words that follow `client_id`, or null. */
export function documentUrlFault(url: string): string | null {
  if (url.length > maxLength) return `must have at most ${maxLength} bytes`
  if (url.includes('?')) return 'must not have a query'
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(url)) return 'must not have dot segments'
  const fault = pageUriFault(url)
  if (fault !== null) return fault
  return new URL(url).pathname === '/' ? 'must have a path, such as https://app.example/oauth.json' : null
}

/** Returns the id under which a client is stored: it takes the place of the URL where only letters may be. */
export function documentIdOf(url: string): string {
  return `url-${hash('sha256', url, 'base64url')}`
}

export function isDocumentId(id: string): boolean {
  return /^url-[\w-]{43}$/.test(id)
}

/** Returns the id under which the client of a `client_id` is stored. */
export function storedIdOf(clientId: string): string {
  return isDocumentUrl(clientId) ? documentIdOf(clientId) : clientId
}

/** Returns the `client_id` by which apps and people know a client. */
export function clientIdOf({ id, document }: Pick<OAuthClient, 'id' | 'document'>): string {
  return document?.url ?? id
}

/**
 * Whether a URL is on one of the hosts of a setting: names, `*.` names, and `*` for all names. Addresses, and
 * ports other than 443, must be listed.
 */
export function isOnHosts(url: string, hosts: readonly string[]): boolean {
  const { host, hostname, port } = new URL(url)
  if (hosts.includes(host)) return true
  if (port !== '' || isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) return false
  return hosts.some(one => one === '*' || (one.startsWith('*.') && hostname.endsWith(one.slice(1))))
}
