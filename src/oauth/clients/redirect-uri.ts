// Whether a client has registered a redirect URI: letter by letter, but for the port of a program on the
// user's device.

import { isOfDevice } from './uri-rules.ts'

const loopback = /^http:\/\/(127\.0\.0\.1|\[::1\])(?::(\d{1,5}))?(?=[/?]|$)/

/**
 * Compares a URI with the registered ones (RFC 9700 section 2.1); http on a loopback address matches with any
 * port (RFC 8252 section 7.3).
 */
export function redirectMatches(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true
  const bare = withoutPort(uri)
  return bare !== null && registered.some(one => withoutPort(one) === bare)
}

/**
 * Whether other programs on a person's device can receive what is sent to a URI: its ports, by any name, and
 * the schemes of apps are open to all of them (RFC 8252 sections 8.1 and 8.3).
 */
export function isShared(uri: string): boolean {
  const url = URL.parse(uri)
  return url?.protocol !== 'https:' || isOfDevice(url.hostname)
}

/**
 * Returns where a redirect URI leads, as a person sees it: a host with its port, or the scheme of an app. All
 * programs of the own device are `localhost`, as each start may choose another port (RFC 8252 section 7.3).
 */
export function redirectHostOf(uri: string): string {
  const { protocol, hostname, host } = new URL(uri)
  if (protocol !== 'https:' && protocol !== 'http:') return protocol
  return isOfDevice(hostname) ? 'localhost' : host
}

function withoutPort(uri: string): string | null {
  const [start, host, port] = loopback.exec(uri) ?? []
  if (start === undefined || Number(port) > 65_535) return null
  return `http://${host}${uri.slice(start.length)}`
}
