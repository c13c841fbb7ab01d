// The origins of the pages: to a browser each has its own cookies.

import { hostName } from '../../http1/fields/host.ts'
import type { Page } from '../parts/layout.ts'
import { messagePage } from '../views/message.ts'

/** Returns our origin of a request with this Host, or the closest one: same name, else the first. */
export function originOf(
  host: string | undefined,
  [first, ...others]: readonly string[],
): { readonly origin: string; readonly isOurs: boolean } {
  const all = [first!, ...others].map(origin => new URL(origin))
  const name = host === undefined ? null : hostName(host)
  if (name === null) return { origin: first!, isOurs: false }
  // The port of a scheme may be left out, and case does not matter (RFC 9110 section 4.2.3).
  const exact = all.find(({ protocol, host: own }) => URL.parse(`${protocol}//${host}`)?.host === own)
  const near = exact ?? all.find(({ host: own }) => hostName(own) === name)
  return { origin: near?.origin ?? first!, isOurs: exact !== undefined }
}

/** The page for a client that used plain HTTP, as `base` says, for an https origin; else null. */
export function plainHttpPage(origin: string, target: string, base: string | null): Page | null {
  if (!origin.startsWith('https:') || base?.startsWith('http:') !== true) return null
  return messagePage({
    status: 403,
    title: 'This page is served over https',
    text: 'You came over plain HTTP, where others can read what is sent. If your address bar shows https, the proxy in front of Gatehouse does not say so: it must send X-Forwarded-Proto.',
    link: { href: origin + target, text: 'Open it over https' },
  })
}
