// The cookies that bind an authorization request to the browser that started it.

import type { IncomingMessage } from 'node:http'
import { ownCookies } from '../../http1/fields/own-cookies.ts'
import { withoutOws } from '../../base/text/ows.ts'

/** Returns the names of the cookies; for https, browsers accept them over nothing else. */
export function cookieNames(issuer: string): { readonly interaction: string; readonly resume: string } {
  const prefix = issuer.startsWith('https:') ? '__Secure-' : ''
  return { interaction: prefix + ownCookies.interaction, resume: prefix + ownCookies.resume }
}

export function cookiesOf({ headers }: Pick<IncomingMessage, 'headers'>): readonly string[] {
  return (headers.cookie ?? '').split(';').map(withoutOws)
}
