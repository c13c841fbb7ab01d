// Controls access to pages: shows and does only what a person's roles include, rejects forms that another
// site could have sent, and requires a fresh proof of identity before risky actions.

import type { IncomingMessage } from 'node:http'
import type { Clock } from '../base/clock.ts'
import { writeCookie } from '../pages/forms/cookies.ts'
import type { Form, FormRules } from '../pages/forms/form.ts'
import { formToken, isFormToken } from '../pages/forms/csrf.ts'
import { type PageResponse, redirectTo, withCookies, writePage } from '../pages/parts/layout.ts'
import { throttledMessage } from '../pages/parts/throttled-message.ts'
import { leadingOn, paths as ownPaths } from '../pages/parts/paths.ts'
import { readSentForm } from '../pages/forms/sent-form.ts'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import type { PersonToken, PersonTokens, PlaceOfPerson } from '../people/sign-in/person-token.ts'
import { isStale } from '../people/sessions/sessions.ts'
import type { ClientInfo } from '../people/records/client-info.ts'
import { pause } from '../base/turns/turns.ts'
import { permits } from '../permissions/permit.ts'
import type { Token } from '../store/records/records.ts'
import { StoreUnreachable } from '../store/contract/store.ts'
import { Api, type CallApi, type Failure, Refusal } from './page/api-client.ts'
import type { PageRequest, Handler, Route, SectionLink, View } from './page/page-request.ts'
import { flashMessageOf } from './page/flash-messages.ts'
import type { GatewayEndpoint } from './page/gateway-endpoint.ts'
import { paths } from './page/paths.ts'
import { noAccount, notAllowed, notFound, refusalView, shutAccount } from './page/refusal-pages.ts'
import { RouteTable } from './page/route-table.ts'
import { askAgain, askForPassword, askForProvider, needsProof, proofField } from './page/reauthentication.ts'
import { sections } from './page/sections.ts'
import { writeView } from './shell.ts'

export interface Sender {
  readonly address: string | null
  readonly peer: string
  readonly isDirect: boolean
  readonly isVouched: boolean
  readonly base: string | null
  readonly ray: string
}

type Question = Parameters<CallApi>[0] & { readonly sender: Sender }

export interface AdmissionParts {
  readonly people: People
  readonly persons: PersonTokens
  readonly askAs: (caller: Token, question: Question) => ReturnType<CallApi>
  readonly issuer: () => string
  readonly entrance: () => GatewayEndpoint | null
  readonly clock: Clock
  readonly routes: readonly Route[]
}

interface Request {
  readonly request: IncomingMessage
  readonly url: URL
  readonly sender: Sender
  readonly origin: string
  readonly actor: Actor
  /** The value of the session, to which forms are bound. */
  readonly session: string
}

interface IdentifiedRequest extends Request {
  readonly person: PersonToken
}

interface PermittedRequest {
  readonly request: IdentifiedRequest
  readonly place: PlaceOfPerson
  readonly route: Route
  readonly params: PageRequest['params']
}

type Place = PlaceOfPerson | null

const formRules: FormRules = { maxBytes: 256 * 1024, fields: 500, hasLines: true }
const fileRules: FormRules = { ...formRules, maxBytes: 2 * 1024 * 1024, hasFiles: true }
const noForm: Form = new Map()
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST'])

export class Admission {
  readonly #parts: AdmissionParts
  readonly #table: RouteTable

  constructor(parts: AdmissionParts) {
    this.#parts = parts
    this.#table = new RouteTable(parts.routes)
  }

  /** Returns the page with the form of a path: where to continue after signing in. */
  pageOfForm(path: string): string {
    return this.#table.find(path)?.route.show === undefined ? paths.root : path
  }

  async admit(incoming: Request): Promise<PageResponse> {
    const permitted = await this.#standingOf(incoming)
    if ('body' in permitted) return permitted
    const { request, place, route, params } = permitted
    const { method } = incoming.request
    const handler = method === 'POST' ? route.take : route.show
    if (handler === undefined || !methods.has(method!)) {
      const allow = [route.show && 'GET, HEAD', route.take && 'POST'].filter(Boolean).join(', ')
      return withHeader(this.#write(notAllowed(allow), request, place), 'allow', allow)
    }
    if (method === 'POST') return this.#take(handler, permitted)
    await pause()
    const outcome = await run(handler, this.#askOf(request, place, params))
    await pause()
    if ('content' in outcome) await this.#note(place, request)
    return this.#write(outcome, request, place)
  }

  /**
   * Records the account of a page as the next entry point; the page is shown whether that can be written or
   * not.
   */
  async #note({ id }: PlaceOfPerson, { actor: { session } }: IdentifiedRequest): Promise<void> {
    if (session.account === id) return
    try {
      await this.#parts.people.sessions.noteAccount(session, id)
    } catch (cause) {
      if (!(cause instanceof StoreUnreachable)) throw cause
    }
  }

  /** Finds the page, and the person's permissions there, or returns the page that is shown instead. */
  async #standingOf(incoming: Request): Promise<PermittedRequest | PageResponse> {
    const request = { ...incoming, person: await this.#parts.persons.of(incoming.actor) }
    const { places } = request.person
    const path = incoming.url.pathname
    const place = places.find(({ id }) => id === path.split('/')[2]) ?? null
    if (path === paths.root)
      return places.length === 0 ? this.#write(noAccount, request, null) : toLast(places, request.actor)
    if (place?.isShut === true) return this.#write(shutAccount, request, place)
    const match = this.#table.find(path)
    if (place === null || match === null || !maySee(match.route, place.id, request.person))
      return this.#write(notFound, request, place)
    return { request, place, ...match }
  }

  async #take(
    handler: Handler,
    { request: initial, place, route, params }: PermittedRequest,
  ): Promise<PageResponse> {
    const onward = onwardFrom(route, this.#askOf(initial, place, params))
    const rules = route.hasFiles === true ? fileRules : formRules
    const sent = await readSentForm(initial.request, initial.origin, onward, rules)
    if ('title' in sent) return writePage(sent)
    // The form may have taken its time: a user who was signed out or removed in between can do nothing more.
    const actor = await this.#parts.people.sessions.find(initial.session)
    if (actor === null) return toSignIn(this.pageOfForm(initial.url.pathname))
    const permitted = await this.#standingOf({ ...initial, actor })
    if ('body' in permitted) return permitted
    const { request } = permitted
    const ask = this.#askOf(request, place, params)
    const held = {
      frame: { ...ask.frameFor(ask.path), hasFiles: route.hasFiles === true },
      sent,
      email: request.actor.user.email,
    }
    if (!isFormToken(sent.get('form_token'), request.session, formPathOf(route, ask.path)))
      return this.#write(askAgain(held), request, place)
    const form: Form = new Map([...sent].filter(([name]) => name !== proofField))
    const proof = needsProof(route.effect) ? await this.#prove(held, ask.client, request) : null
    if (proof === null) return this.#write(await run(handler, { ...ask, form }), request, place)
    if ('body' in proof) return proof
    if ('view' in proof) return this.#write(proof.view, request, place)
    const cookies = [writeCookie('gatehouse', proof.session, isSecure(request))]
    const proved = await this.#standingOf({ ...request, ...proof })
    if ('body' in proved) return withCookies(proved, cookies)
    const outcome = await run(handler, { ...this.#askOf(proved.request, place, params), form })
    return withCookies(this.#write(outcome, proved.request, place), cookies)
  }

  /** Takes the password that came with a form, or asks for it; null if it is not needed. */
  async #prove(
    held: Parameters<typeof askAgain>[0],
    client: ClientInfo,
    { actor, url }: IdentifiedRequest,
  ): Promise<Pick<IdentifiedRequest, 'session' | 'actor'> | { readonly view: View } | PageResponse | null> {
    const { people, clock } = this.#parts
    if (!isStale(actor.session, clock.now())) return null
    const { user } = actor
    const password = held.sent.get(proofField)
    if (user.password === null) return { view: askForProvider(held) }
    if (password === undefined) return { view: askForPassword(held) }
    const result = await people.signIn.confirm(actor, password, client)
    people.metrics.signIn('confirm', result.outcome)
    switch (result.outcome) {
      case 'signed_in':
        return { actor: { user, session: result.session }, session: result.value }
      case 'expired':
        return toSignIn(this.pageOfForm(url.pathname))
      case 'no_password':
        return { view: askForProvider(held) }
      case 'refused':
        return { view: askForPassword({ ...held, fault: 'The password is wrong.' }) }
      default:
        return { view: askForPassword({ ...held, ...throttledMessage(result) }) }
    }
  }

  #askOf(
    request: IdentifiedRequest,
    { id, name }: PlaceOfPerson,
    params: PageRequest['params'],
  ): PageRequest {
    const { url, actor, origin, session, sender, person } = request
    return {
      path: url.pathname,
      params,
      query: url.searchParams,
      form: noForm,
      actor,
      account: { id, name },
      sections: this.#sectionsOf(id, person),
      api: new Api(question => this.#parts.askAs(person.token, { ...question, sender })),
      client: visitOf(request),
      isAlone: isAlone(request),
      framePathOf: path => `${path}?${frameField}=${formToken(session, frameOf(path))}`,
      now: this.#parts.clock.now(),
      origin,
      issuer: this.#parts.issuer(),
      gatewayEndpoint: this.#parts.entrance(),
      hideFirstSteps: () => this.#parts.people.ownAccount.hideFirstSteps(actor, id),
      may: permission => permits(person.token, permission, id),
      frameFor: path => ({ action: path, token: formToken(session, path) }),
    }
  }

  #sectionsOf(account: string, person: PersonToken): readonly SectionLink[] {
    return sections
      .map(({ path, ...section }) => ({ ...section, path: path(account) }))
      .filter(({ path }) => {
        const match = this.#table.find(path)
        return match !== null && maySee(match.route, account, person)
      })
  }

  /**
   * Returns the equivalent, in another account, of a page: the nearest page at or above the path that names
   * no resource of the account, and that the person may see.
   */
  #pageLike(path: string, account: string, person: PersonToken): string {
    for (let steps = path.split('/').with(2, account); steps.length > 3; steps = steps.slice(0, -1)) {
      const match = this.#table.find(steps.join('/'))
      if (match === null || match.route.show === undefined || Object.keys(match.params).length > 1) continue
      if (maySee(match.route, account, person)) return steps.join('/')
    }
    return paths.home(account)
  }

  #write(
    outcome: View | PageResponse | Failure,
    { actor, person, url, request }: IdentifiedRequest,
    place: Place,
  ): PageResponse {
    if ('body' in outcome) return outcome
    const view = 'ok' in outcome ? refusalView(outcome) : outcome
    const viewer = {
      email: actor.user.email,
      account: place,
      accounts: (place === null ? [] : person.places).map(({ id, name }) => ({
        ...{ id, name },
        path: this.#pageLike(url.pathname, id, person),
      })),
      sections: place === null || place.isShut ? [] : this.#sectionsOf(place.id, person),
      path: url.pathname,
      mayFind: place !== null && !place.isShut && seen.some(one => permits(person.token, one, place.id)),
    }
    const response = writeView(
      view,
      viewer,
      request.method === 'POST' ? null : flashMessageOf(url.searchParams),
    )
    if (!('ok' in outcome) || outcome.retryAfter === null) return response
    return withHeader(response, 'retry-after', String(outcome.retryAfter))
  }
}

async function run(handler: Handler, ask: PageRequest): ReturnType<Handler> {
  try {
    return await handler(ask)
  } catch (cause) {
    if (cause instanceof Refusal) return cause.failure
    throw cause
  }
}

const seen = [
  'OAuth Clients Read',
  'API Tokens Read',
  'AI Gateway Read',
  'Zones Read',
  'Members Read',
  'Analytics Read',
] as const

/**
 * Leads to the account last seen in the session, or else to the first; to one that is closed only if all are.
 */
function toLast(places: PersonToken['places'], { session }: Actor): PageResponse {
  const open = places.filter(({ isShut }) => !isShut)
  const { id } = open.find(({ id }) => id === session.account) ?? open[0] ?? places[0]!
  return redirectTo(paths.home(id))
}

/** Sends a person to sign in, and then to a page. */
export function toSignIn(next: string): PageResponse {
  return redirectTo(leadingOn(ownPaths.signIn, next))
}

function maySee({ permission }: Route, account: string, { token }: PersonToken): boolean {
  return permission === null || permits(token, permission, account)
}

function visitOf({ request, sender }: Request): ClientInfo {
  return {
    address: sender.address ?? sender.peer,
    userAgent: request.headers['user-agent'] ?? null,
    ray: sender.ray,
  }
}

function onwardFrom({ show }: Route, { path, account }: PageRequest) {
  return { href: show === undefined ? paths.home(account.id) : path, text: 'Go on' }
}

/** Returns the path of the form of a route, to which its token is bound. */
function formPathOf({ isBesideForm = false }: Route, path: string): string {
  return isBesideForm ? path.slice(0, path.lastIndexOf('/')) : path
}

const frameField = 'frame'

/** Returns what the proof of a frame is bound to: no form has such a path. */
function frameOf(path: string): string {
  return `${path}?${frameField}`
}

/**
 * Whether a page is opened by itself. Browsers say so except over plain HTTP beyond this machine (Fetch
 * Metadata): there a frame of ours proves itself, and a form leads into one.
 */
function isAlone({ request, url, session }: Request): boolean {
  const dest = request.headers['sec-fetch-dest']
  if (dest !== undefined) return dest === 'document'
  if (request.method === 'POST') return false
  return !isFormToken(url.searchParams.get(frameField) ?? undefined, session, frameOf(url.pathname))
}

function isSecure({ origin }: Request): boolean {
  return origin.startsWith('https:')
}

function withHeader(response: PageResponse, name: string, value: string): PageResponse {
  return { ...response, headers: [...response.headers, [name, value]] }
}
