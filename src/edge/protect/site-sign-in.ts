// How a browser shows its session, and is led to sign in where it has none.

import { isLoopback } from '../../config/shape/host-rules.ts'
import { field } from '../../http1/fields/fields.ts'
import { ownCookieIn, ownCookies } from '../../http1/fields/own-cookies.ts'
import type { Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

const secureName = `__Host-${ownCookies.site}`

/** A longer one would not fit into the addresses on the way. */
const maxTarget = 2_000

/** Null also over plain HTTP, but on loopback: others could read it, and plant one. */
export function siteCookieOf({ head: { fields, ids }, scheme, host }: Exchange): string | null {
  const isSecure = scheme === 'https'
  if (!isSecure && !isLoopback(host)) return null
  const values: string[] = []
  for (let at = ids.indexOf(field.cookie); at !== -1; at = ids.indexOf(field.cookie, at + 1))
    values.push(fields[2 * at + 1]!)
  return ownCookieIn(values, isSecure ? secureName : ownCookies.site)
}

/** Whether a person would see the response as a page of its own, and nothing is lost by another one. */
export function isNavigation({ head }: Exchange): boolean {
  const { method, accept } = head
  if ((method !== 'GET' && method !== 'HEAD') || head.upgrade !== null) return false
  const mode = fieldIn(head, 'sec-fetch-mode')
  return (mode === null || mode === 'navigate') && accept !== null && /\btext\/html\b/i.test(accept)
}

/** Sends the browser to a page of this host, which leads it to ours and back. */
export function leadToSignIn(x: Exchange): 'responded' {
  const { target } = x.head
  const location = `/cdn-cgi/sign-in?to=${encodeURIComponent(target.length > maxTarget ? '/' : target)}`
  const about = `Location: ${location}\r\nContent-Length: 0\r\nCache-Control: no-store\r\n`
  const lines = `${about}${x.addedLines}svc-ray: ${x.ray}\r\n${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.status = 303
  x.client.respond(x, { status: 303, reason: 'See Other', lines }, '')
  x.client.finish(x)
  return 'responded'
}

function fieldIn({ fields }: Exchange['head'], name: string): string | null {
  for (let i = 0; i < fields.length; i += 2) if (fields[i]!.toLowerCase() === name) return fields[i + 1]!
  return null
}
