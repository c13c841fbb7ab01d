// A request for a page: what it asks for, whose browser sent it, and the answer that handlers give.

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

/** What handlers get. */
export interface Ask {
  readonly request: IncomingMessage
  readonly path: string
  readonly query: URLSearchParams
  /** Empty unless a form was sent. */
  readonly form: Form
  readonly visit: ClientInfo
  /** Who is signed in. */
  readonly actor: Actor | null
  /** The value of the session that the browser has, null for none. */
  readonly session: string | null
  /** What the forms of this browser are bound to: its session, or else the secret of a visitor. */
  readonly secret: string
  /** Where people reach the pages, without a slash at the end. */
  readonly origin: string
  /** Whether the dashboard is there too: where only the authorization server is published, it is not. */
  readonly hasDashboard: boolean
}

export type Handler = (ask: Ask, people: People) => Promise<Page | PageResponse>

/** Shows a form once more, with what was typed into it but for secrets. */
export type Again = (ask: Ask, people: People, retry: Retry) => Promise<Page | PageResponse>

/** What a path does: shows a page, takes a form, or both. */
export interface Handlers {
  readonly show?: Handler
  readonly take?: Handler
  /** What becomes of a form that was made for another session: nothing is done, and the person can send it again. */
  readonly again?: Again
}

/** Returns the token of the form that leads to a path, for this browser. */
export function tokenFor({ secret }: Ask, path: string): string {
  return formToken(secret, path)
}

/** Returns what a field of the form says, empty for one that is missing. */
export function fieldOf({ form }: Ask, name: string): string {
  return form.get(name) ?? ''
}

const keptNames = ['email', 'first_name', 'last_name'] as const

/** Returns what was typed into the form, but for secrets. */
export function keptOf(ask: Ask): Readonly<Record<string, string>> {
  return Object.fromEntries(keptNames.map(name => [name, fieldOf(ask, name)]))
}

/** Returns where to go on, as the form or else the query says: home, if neither does or it is no path of ours. */
export function nextOf(ask: Ask): string {
  return safeReturnPath(ask.form.get('next') ?? ask.query.get('next'), homeOf(ask))
}

/** Returns where people go on whom nothing leads elsewhere: the dashboard, at the account if one is given, or else their profile. */
export function homeOf({ hasDashboard }: Ask, account: string | null = null): string {
  if (!hasDashboard) return paths.account
  return account === null ? paths.dashboard : dashboardOf(account)
}

/** Whether people reach the pages over https. */
export function isSecure({ origin }: Ask): boolean {
  return origin.startsWith('https:')
}

/** Sends a browser on, with the cookie of a session that is new in place of that of a visitor. */
export function signedIn(ask: Ask, value: string, location: string): PageResponse {
  return withSession(ask, redirectTo(location), value)
}

/** Returns a page with the cookie of a session that is new. */
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

/** Explains that a link leads nowhere any more. */
export const linkIsOver: Page = messagePage({
  status: 404,
  title: 'This link is over',
  text: 'It was used, has expired, or was replaced by a newer one. Ask who gave it to you for another.',
  link: { href: paths.signIn, text: 'Sign in' },
})
