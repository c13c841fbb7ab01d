// Whether a redirect URI is one that a client has registered: letter for letter, but for the port of a
// program on the user's own device.

import { isOfDevice } from './uri-rules.ts'

const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?(?=[/?]|$)/

/**
 * Compares a URI with those that are registered (RFC 9700 section 2.1); http on a loopback address matches
 * whatever the port is (RFC 8252 section 7.3).
 */
export function redirectMatches(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const bare = withoutPort(uri)
  return bare !== null && registered.some(one => withoutPort(one) === bare)
}

/**
 * Whether other programs on the device of a person can receive what goes to a URI: its ports, by any name,
 * and schemes of apps are anybody's (RFC 8252 sections 8.1 and 8.3).
 */
export function isShared(uri: string): boolean {
  const url = URL.parse(uri)
  return url?.protocol !== 'https:' || isOfDevice(url.hostname)
}

/**
 * Returns the place that a redirect URI leads to, as a person sees it: a host with its port, or the scheme of
 * an app with its colon. All programs of the person's own device are `localhost`: each start may choose
 * another port (RFC 8252 section 7.3).
 */
export function redirectHostOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'https:' && protocol !== 'http:') return protocol
  return isOfDevice(hostname) ? 'localhost' : host
}

/** Takes the port out of the URI of a loopback address; null for any other. */
function withoutPort(uri: string): string | null {
  const [found, host, port] = loopback.exec(uri) ?? []
  if (found === undefined || (port !== undefined && Number(port) > 65_535)) return null
  return `http://${host}${uri.slice(found.length)}`
}
