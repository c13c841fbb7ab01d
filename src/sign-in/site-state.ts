// What a browser takes along from a site to our pages and back: where it wants to go, bound to a cookie of
// the site, so that nobody else can have begun it.

import { formToken, isFormToken } from '../pages/forms/csrf.ts'

export const stateForm = /^[\w-]{43}\.[\w-]{1,4000}$/

/** `secret` is the value of the cookie. */
export function stateOf(secret: string, path: string): string {
  return `${formToken(secret, `way ${path}`)}.${Buffer.from(path).toString('base64url')}`
}

/** Returns the path of a state; null unless it was made with this secret. */
export function pathIn(state: string, secret: string | null): string | null {
  const [, token, encoded] = /^([\w-]{43})\.([\w-]{1,4000})$/.exec(state) ?? []
  if (encoded === undefined || secret === null) return null
  const path = Buffer.from(encoded, 'base64url').toString()
  return isFormToken(token, secret, `way ${path}`) ? path : null
}
