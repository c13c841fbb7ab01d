// Checks that one of our pages sent a form: by a token, bound to a cookie, and the browser's own fields.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the token of one form for the bearer of a secret; it differs for every form and bearer. */
export function formToken(secret: string, form: string): string {
  return createHmac('sha256', secret).update(`form ${form}`).digest('base64url')
}

/** Takes the same time for any two of the right length. */
export function isFormToken(token: string | undefined, secret: string, form: string): boolean {
  const expected = Buffer.from(formToken(secret, form))
  const presented = Buffer.from(token ?? '')
  return presented.length === expected.length && timingSafeEqual(presented, expected)
}

/** A program that sends neither field is not a browser, and carries no cookies of others. */
export function isFromOwnPage(headers: IncomingHttpHeaders, origin: string): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin') return false
  return headers.origin === undefined || headers.origin === origin
}
