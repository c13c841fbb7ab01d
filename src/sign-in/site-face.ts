// Signing in and out on the hosts of sites. Only the edge passes requests on to it.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { html } from '../base/text/html.ts'
import type { Clock } from '../base/clock.ts'
import { endCookie, readCookies, writeCookie } from '../pages/forms/cookies.ts'
import { formToken, isFormToken, newSecret } from '../pages/forms/csrf.ts'
import { readSentForm, sendPage } from '../pages/forms/sent-form.ts'
import { button, form, isolated } from '../pages/parts/components.ts'
import { type Page, type PageResponse, redirectTo, withCookies, writePage } from '../pages/parts/layout.ts'
import { isOfSites, paths, sitePaths } from '../pages/parts/paths.ts'
import { messagePage, storePage } from '../pages/views/message.ts'
import { digestOfValue } from '../people/records/secret-value.ts'
import { challengeOf, type SiteSession, type SiteSessions } from '../people/sessions/site-sessions.ts'
import { signOutById } from '../people/sessions/sign-out.ts'
import type { Sessions } from '../people/sessions/sessions.ts'
import { type Store, StoreUnreachable } from '../store/contract/store.ts'
import { pathIn, stateOf } from './site-state.ts'
import type { Sites } from './sites.ts'

interface Sender {
  readonly address: string | null
  readonly peer: string
  readonly ray: string
  readonly isVouched: boolean
  /** The scheme and authority by which the client came. */
  readonly base: string | null
}

interface SiteFaceParts {
  readonly sites: Sites
  readonly siteSessions: SiteSessions
  readonly sessions: Sessions
  readonly store: Store
  /** Returns the origin of our pages; null for none. */
  readonly pages: () => string | null
  readonly clock: Clock
}

interface Visit {
  readonly request: IncomingMessage
  readonly sender: Sender
  readonly site: URL
  readonly query: URLSearchParams
  readonly isSecure: boolean
  readonly cookies: ReturnType<typeof readCookies>
}

type Handler = (visit: Visit) => Promise<Page | PageResponse> | Page | PageResponse

export class SiteFace {
  readonly #parts: SiteFaceParts
  readonly #table: ReadonlyMap<string, { readonly show: Handler; readonly take?: Handler }>

  constructor(parts: SiteFaceParts) {
    this.#parts = parts
    this.#table = new Map([
      [sitePaths.signIn, { show: visit => this.#begin(visit) }],
      [sitePaths.signedIn, { show: visit => this.#finish(visit) }],
      [sitePaths.signOut, { show: visit => this.#askToSignOut(visit), take: visit => this.#signOut(visit) }],
    ])
  }

  takes(path: string): boolean {
    return isOfSites(path)
  }

  async serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    const answer = await this.#respond(request, sender).catch(pageOfFailure)
    await sendPage(request, response, 'headers' in answer ? answer : writePage(answer))
  }

  async #respond(request: IncomingMessage, sender: Sender): Promise<Page | PageResponse> {
    const { base } = sender
    const url = sender.isVouched && base !== null ? URL.parse(base + request.url!) : null
    const actions = url === null ? undefined : this.#table.get(url.pathname)
    if (url === null || actions === undefined) return notFound
    const site = this.#parts.sites.find(url.origin)
    if (site === null) return url.protocol === 'http:' ? plainHttp(url) : notFound
    const isForm = request.method === 'POST'
    const handler = isForm ? actions.take : actions.show
    if (handler === undefined || !methods.has(request.method!)) return notAllowed
    const isSecure = site.protocol === 'https:'
    const cookies = readCookies(request.headers.cookie, isSecure)
    return handler({ request, sender, site, query: url.searchParams, isSecure, cookies })
  }

  #begin({ site, query, cookies, isSecure }: Visit): Page | PageResponse {
    const pages = this.#parts.pages()
    if (pages === null) return noPages
    const path = this.#parts.sites.pathAt(site, query.get('to'))
    // Several tabs may be on their way at once.
    const secret = cookies['gatehouse-way'] ?? newSecret()
    const asked = { site: site.origin, state: stateOf(secret, path), challenge: challengeOf(secret) }
    const response = redirectTo(`${pages}${paths.site}?${new URLSearchParams(asked)}`)
    return withCookies(response, [writeCookie('gatehouse-way', secret, isSecure)])
  }

  async #finish(visit: Visit): Promise<Page | PageResponse> {
    const { site, query, cookies, isSecure } = visit
    const { sites, siteSessions } = this.#parts
    const secret = cookies['gatehouse-way']
    const path = pathIn(query.get('state') ?? '', secret)
    if (path === null || secret === null) {
      // Another tab was faster, or the page was loaded again.
      return (await this.#sessionOf(visit)) === null ? failed : redirectTo('/')
    }
    const value = await siteSessions.begin(query.get('code') ?? '', site.origin, secret)
    if (value === null)
      return (await this.#sessionOf(visit)) === null ? failed : redirectTo(sites.pathAt(site, path))
    const before = cookies['gatehouse-site']
    if (before !== null) await siteSessions.end(before)
    return withCookies(redirectTo(sites.pathAt(site, path)), [
      writeCookie('gatehouse-site', value, isSecure),
      endCookie('gatehouse-way', isSecure),
    ])
  }

  async #askToSignOut(visit: Visit): Promise<Page> {
    const session = await this.#sessionOf(visit)
    return session === null ? signedOut(visit.site) : signOutPage(visit, session)
  }

  /** Also ends the session at our pages: otherwise the next visit would sign in again by itself. */
  async #signOut(visit: Visit): Promise<Page | PageResponse> {
    const { request, sender, site, cookies, isSecure } = visit
    const sent = await readSentForm(request, site.origin, { href: sitePaths.signOut, text: 'Go on' })
    if ('title' in sent) return sent
    const session = await this.#sessionOf(visit)
    const value = cookies['gatehouse-site']
    if (session !== null) {
      if (!isFormToken(sent.get('form_token'), value!, sitePaths.signOut)) return signOutPage(visit, session)
      const client = { address: sender.address ?? sender.peer, ray: sender.ray }
      await signOutById({ session: session.parent, user: session.user }, client, this.#parts)
      await this.#parts.siteSessions.end(value!)
    }
    return withCookies(writePage(signedOut(site)), [endCookie('gatehouse-site', isSecure)])
  }

  async #sessionOf({ cookies, site }: Visit): Promise<SiteSession | null> {
    const value = cookies['gatehouse-site']
    const { siteSessions } = this.#parts
    if (value === null || !siteSessions.mayExist(value)) return null
    const session = await siteSessions.find(digestOfValue(value))
    return session?.host === site.hostname.replace(/^\[|\]$/g, '') ? session : null
  }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

function pageOfFailure(cause: unknown): Page {
  if (cause instanceof StoreUnreachable) return storePage(cause)
  throw cause
}

function signOutPage({ site, cookies }: Visit, { user }: SiteSession): Page {
  const token = formToken(cookies['gatehouse-site']!, sitePaths.signOut)
  return {
    title: 'Sign out',
    content: html`<h1>Sign out?</h1>
<p class="lead">You are signed in as <b>${isolated(user.email)}</b>. This ends your session at ${site.host}, at Gatehouse, and at all other sites that you opened with it in this browser.</p>
<div class="card">
${form(
  { action: sitePaths.signOut, token },
  html`<div class="choice"><a class="button plain" href="/">Stay</a>${button('Sign out', 'plain')}</div>`,
)}</div>`,
  }
}

function signedOut({ host }: URL): Page {
  return messagePage({
    status: 200,
    title: 'You are signed out',
    text: 'Close the other pages of the site too: they may still show what you saw.',
    link: { href: '/', text: `Back to ${host}` },
  })
}

function plainHttp({ host, pathname }: URL): Page {
  return messagePage({
    status: 403,
    title: 'This site takes sign-ins over https alone',
    text: 'You came over plain HTTP, where others can read what is sent. If your address bar shows https, the proxy in front of Gatehouse does not say so: it must send X-Forwarded-Proto.',
    link: { href: `https://${host}${pathname}`, text: 'Open it over https' },
  })
}

const notFound = messagePage({
  status: 404,
  title: 'Page not found',
  text: 'There is no page at this address.',
  link: { href: '/', text: 'Go to the site' },
})

const notAllowed = messagePage({
  status: 405,
  title: 'Method not allowed',
  text: 'This page takes GET, and the one to sign out takes a form.',
})

const failed = messagePage({
  status: 403,
  title: 'Signing in did not work',
  text: 'It took too long, was begun in another browser, or your browser refuses cookies, without which nobody can sign in.',
  link: { href: sitePaths.signIn, text: 'Try again' },
})

const noPages = messagePage({
  status: 503,
  title: 'Nobody can sign in here yet',
  text: 'Gatehouse has no address for its pages. The operator has to set oauth.issuer or dashboard.host.',
})
