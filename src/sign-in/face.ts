// The sign-in app of the side port; rejects forms that another site could have sent.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import { StoreUnreachable } from '../store/contract/store.ts'
import { endCookie, readCookies, writeCookie } from '../pages/forms/cookies.ts'
import type { Form } from '../pages/forms/form.ts'
import { isFormToken, newSecret } from '../pages/forms/csrf.ts'
import { type PageResponse, redirectTo, withCookies, writePage } from '../pages/parts/layout.ts'
import { originOf, plainHttpPage } from '../pages/forms/own-origins.ts'
import { consentIn, isOfSignIn, paths } from '../pages/parts/paths.ts'
import { forged, outOfDate, readSentForm, sendPage } from '../pages/forms/sent-form.ts'
import { messagePage, storePage } from '../pages/views/message.ts'
import { accountHandlers } from './account.ts'
import { type Ask, type Handler, type Handlers, inputOf, pageOf } from './ask.ts'
import { consentHandlers, type Interactions } from './consent.ts'
import { joinHandlers } from './join.ts'
import { type SiteParts, siteHandlers } from './site-pages.ts'
import { signInHandlers } from './sign-in.ts'
import type { Grants } from './connected-apps.ts'
import { passkeyHandlers } from './passkeys.ts'
import { twoStepHandlers } from './two-step.ts'

interface Sender {
  readonly address: string | null
  readonly peer: string
  readonly ray: string
  /** Whether the edge passed the request on, and the scheme and authority by which it came. */
  readonly isVouched: boolean
  readonly base: string | null
}

interface SignInParts {
  readonly people: People
  readonly grants: Grants
  /** Requests of apps to people; null without an authorization server. */
  readonly interactions: Interactions | null
  /** The sites that people sign in for here; null for none. */
  readonly site?: SiteParts | null
  /** Returns the origins of the pages; other hosts lead to the first, which is that of consents. */
  readonly origins: () => readonly string[]
  readonly hasDashboard: (origin: string) => boolean
  /** Whether the edge trusts proxies in front of it, and so knows which clients used plain HTTP. */
  readonly knowsScheme: () => boolean
}

const noForm: Form = new Map()

export class SignInFace {
  readonly #people: People
  readonly #origins: () => readonly string[]
  readonly #hasDashboard: (origin: string) => boolean
  readonly #knowsScheme: () => boolean
  readonly #table: ReadonlyMap<string, Handlers>
  readonly #consent: Handlers

  constructor(parts: SignInParts) {
    const { people, grants, interactions, site = null, origins, hasDashboard, knowsScheme } = parts
    this.#people = people
    this.#origins = origins
    this.#hasDashboard = hasDashboard
    this.#knowsScheme = knowsScheme
    this.#consent = interactions === null ? {} : consentHandlers(interactions)
    this.#table = new Map([
      ...signInHandlers(interactions, site),
      ...siteHandlers(site),
      ...joinHandlers,
      ...accountHandlers(grants),
      ...twoStepHandlers,
      ...passkeyHandlers,
    ])
  }

  takes(path: string): boolean {
    return isOfSignIn(path)
  }

  async serve(request: IncomingMessage, response: ServerResponse, sender: Sender): Promise<void> {
    await sendPage(request, response, await this.#respond(request, sender))
  }

  async #respond(request: IncomingMessage, sender: Sender): Promise<PageResponse> {
    try {
      return await this.#handle(request, sender)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) throw cause
      return writePage(storePage(cause))
    }
  }

  async #handle(request: IncomingMessage, sender: Sender): Promise<PageResponse> {
    const { origin, isOurs } = this.#originOf(request)
    const url = URL.parse(request.url!, origin)
    if (url === null) return writePage(notFound)
    const isKnown = sender.isVouched && this.#knowsScheme()
    const plain = isKnown ? plainHttpPage(origin, request.url!, sender.base) : null
    if (plain !== null) return writePage(plain)
    const handlers = this.#handlersOf(url.pathname)
    if (handlers === null) return writePage(notFound)
    const isForm = request.method === 'POST'
    const handler = isForm ? handlers.take : handlers.show
    if (handler === undefined || !methods.has(request.method!)) return notAllowed(handlers)
    // Cookies belong to one host: under another of its names, people would have to sign in twice.
    if (!isOurs) return isForm ? writePage(forged(toAccount)) : redirectTo(origin + url.pathname + url.search)
    const form = isForm ? await readSentForm(request, origin, toAccount) : noForm
    if ('title' in form) return writePage(form)
    // After the form has arrived: a user who was signed out in between can do nothing more.
    const ask = await this.#askOf(request, url, sender, origin)
    const isStale = isForm && !isFormToken(form.get('form_token'), ask.secret, ask.path)
    const handle = isStale ? showAgain(handlers) : handler
    return withVisitor(ask, pageOf(await handle({ ...ask, form }, this.#people)))
  }

  /** An app is waiting for the decision at the origin where its request began. */
  #originOf({ url, headers }: IncomingMessage) {
    const origins = this.#origins()
    return originOf(headers.host, consentIn(url!.split('?')[0]!) === null ? origins : origins.slice(0, 1))
  }

  #handlersOf(path: string): Handlers | null {
    return consentIn(path) === null ? (this.#table.get(path) ?? null) : this.#consent
  }

  async #askOf(request: IncomingMessage, url: URL, sender: Sender, origin: string): Promise<Ask> {
    const { headers } = request
    const cookies = readCookies(headers.cookie, origin.startsWith('https:'))
    const actor = await this.#actorOf(cookies.gatehouse)
    return {
      request,
      path: url.pathname,
      query: url.searchParams,
      form: noForm,
      visit: {
        address: sender.address ?? sender.peer,
        userAgent: headers['user-agent'] ?? null,
        ray: sender.ray,
      },
      actor,
      session: cookies.gatehouse,
      secret: (actor === null ? cookies['gatehouse-visit'] : cookies.gatehouse) ?? newSecret(),
      origin,
      hasDashboard: this.#hasDashboard(origin),
    }
  }

  async #actorOf(session: string | null): Promise<Actor | null> {
    return session === null ? null : this.#people.sessions.find(session)
  }
}

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

/** For a form without a token, or of another session: does nothing, and shows it with a new token. */
function showAgain({ again }: Handlers): Handler {
  const trouble =
    'Nothing was done yet: you signed in or out since this page was loaded, or your browser refuses cookies. Look it over and send it again.'
  return async (ask, people) =>
    again === undefined
      ? writePage(outOfDate(onwardFrom(ask.path)))
      : again(ask, people, { input: inputOf(ask), trouble, status: 403 })
}

function withVisitor(ask: Ask, response: PageResponse): PageResponse {
  const { actor, request, secret, origin } = ask
  const isSecure = origin.startsWith('https:')
  const cookies = readCookies(request.headers.cookie, isSecure)
  const begins = response.headers.some(([name, value]) => name === 'set-cookie' && /gatehouse=/.test(value))
  if (actor !== null || begins || cookies['gatehouse-visit'] === secret) return response
  const stale = cookies.gatehouse === null ? [] : [endCookie('gatehouse', isSecure)]
  return withCookies(response, [writeCookie('gatehouse-visit', secret, isSecure), ...stale])
}

function notAllowed({ show, take }: Handlers): PageResponse {
  const allowed = [show && 'GET, HEAD', take && 'POST'].filter(Boolean).join(', ')
  const page = writePage(
    messagePage({
      status: 405,
      title: 'Method not allowed',
      text: `This page takes ${allowed || 'nothing'}.`,
    }),
  )
  return { ...page, headers: [...page.headers, ['allow', allowed]] }
}

const toAccount = { href: paths.account, text: 'Your profile' }

function onwardFrom(path: string) {
  return consentIn(path) === null ? toAccount : { href: path, text: 'Go on' }
}

const notFound = messagePage({
  status: 404,
  title: 'Page not found',
  text: 'There is no page at this address.',
  link: toAccount,
})
