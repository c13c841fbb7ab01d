// A request for a page: its content, its browser, and the response that handlers return.

import type { IncomingMessage } from 'node:http'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import type { ClientInfo } from '../people/records/client-info.ts'
import { endCookie, writeCookie } from '../pages/forms/cookies.ts'
import type { Form } from '../pages/forms/form.ts'
import { formToken } from '../pages/forms/csrf.ts'
import { type Page, type PageResponse, redirectTo, withCookies, writePage } from '../pages/parts/layout.ts'
import { safeReturnPath } from '../pages/parts/return-path.ts'
import { dashboardOf, paths } from '../pages/parts/paths.ts'
import { messagePage } from '../pages/views/message.ts'
import type { Retry } from '../pages/views/sign-in.ts'

export interface Ask {
  readonly request: IncomingMessage
  readonly path: string
  readonly query: URLSearchParams
  readonly form: Form
  readonly visit: ClientInfo
  readonly actor: Actor | null
  readonly session: string | null
  /** The secret that the forms of this browser are bound to: its session, or else that of a visitor. */
  readonly secret: string
  /** The origin of the pages, without a trailing slash. */
  readonly origin: string
  /** Whether the dashboard is there too: not if only the authorization server is published. */
  readonly hasDashboard: boolean
}

export type Handler = (ask: Ask, people: People) => Promise<Page | PageResponse>

export type Again = (ask: Ask, people: People, retry: Retry) => Promise<Page | PageResponse>

/** The actions of a path: shows a page, handles a form, or both. */
export interface Handlers {
  readonly show?: Handler
  readonly take?: Handler
  /** Handles a form that was made for another session: nothing is done, and the person can send it again. */
  readonly again?: Again
}

export function tokenFor({ secret }: Ask, path: string): string {
  return formToken(secret, path)
}

export function fieldOf({ form }: Ask, name: string): string {
  return form.get(name) ?? ''
}

const keptNames = ['email', 'first_name', 'last_name'] as const

export function inputOf(ask: Ask): Readonly<Record<string, string>> {
  return Object.fromEntries(keptNames.map(name => [name, fieldOf(ask, name)]))
}

/** Returns where to continue, from the form or else the query: home, if neither names a path of ours. */
export function nextOf(ask: Ask): string {
  return safeReturnPath(ask.form.get('next') ?? ask.query.get('next'), homeOf(ask))
}

/** Returns the default destination: the dashboard, at the account if one is given, or else the profile. */
export function homeOf({ hasDashboard }: Ask, account: string | null = null): string {
  if (!hasDashboard) return paths.account
  return account === null ? paths.dashboard : dashboardOf(account)
}

export function isSecure({ origin }: Ask): boolean {
  return origin.startsWith('https:')
}

/** Sends a browser on, with the cookie of a new session in place of that of a visitor. */
export function signedIn(ask: Ask, value: string, location: string): PageResponse {
  return withSession(ask, redirectTo(location), value)
}

export function withSession(ask: Ask, page: Page | PageResponse, value: string): PageResponse {
  return withCookies(pageOf(page), [
    writeCookie('gatehouse', value, isSecure(ask)),
    endCookie('gatehouse-visit', isSecure(ask)),
  ])
}

/** Writes a page that sends no cookies of its own. */
export function pageOf(page: Page | PageResponse): PageResponse {
  return 'headers' in page ? page : writePage(page)
}

export const linkIsOver: Page = messagePage({
  status: 404,
  title: 'This link is over',
  text: 'It was used, has expired, or was replaced by a newer one. Ask who gave it to you for another.',
  link: { href: paths.signIn, text: 'Sign in' },
})
