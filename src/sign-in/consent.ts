// Handlers of consent: show the request of an app, and pass on the person's decision.

import type { IncomingMessage } from 'node:http'
import { provenHostOf } from '../oauth/clients/proven-host.ts'
import type { OAuthClient } from '../store/records/oauth-client.ts'
import type { ConsentStep, Decision, DecisionResult } from '../oauth/grants/consent-request.ts'
import { appSchemeOf, type Page, type PageResponse, redirectTo } from '../pages/parts/layout.ts'
import { consentIn, leadingOn, paths } from '../pages/parts/paths.ts'
import {
  consentPage,
  leavePage,
  optionalPrefix,
  type Chosen,
  refusedPage,
  type ShownApp,
  type ShownScope,
} from '../pages/views/consent.ts'
import { messagePage } from '../pages/views/message.ts'
import type { Retry } from '../pages/views/sign-in.ts'
import { type Again, type Ask, fieldOf, type Handler, type Handlers, tokenFor } from './ask.ts'

export interface Interactions {
  /** Returns the app of a request; null if the request is over. */
  clientOf(uid: string): Promise<OAuthClient | null>
  load(uid: string, request: IncomingMessage): Promise<ConsentStep>
  finish(uid: string, request: IncomingMessage, decision: Decision): Promise<DecisionResult>
}

export function consentHandlers(interactions: Interactions): Handlers {
  const show: Handler = async ask => pageFor(ask, await interactions.load(uidOf(ask), ask.request))
  const take: Handler = async ask => {
    const uid = uidOf(ask)
    const before = await interactions.load(uid, ask.request)
    const decision = decisionOf(ask)
    if (decision === null) return pageFor(ask, before)
    const finished = await interactions.finish(uid, ask.request, decision)
    if (finished.kind === 'gone') return over
    if (finished.kind === 'resume') return leave(finished.location, before)
    const trouble = 'Choose one of your accounts.'
    return pageFor(ask, await interactions.load(uid, ask.request), { trouble, status: 422 })
  }
  const again: Again = async (ask, _, retry) =>
    pageFor(ask, await interactions.load(uidOf(ask), ask.request), retry)
  return { show, take, again }
}

function chosenIn({ form }: Ask, scopes: readonly ShownScope[]): Chosen | null {
  if (form.size === 0) return null
  const isLeft = ({ id, isOptional }: ShownScope) => isOptional && !form.has(optionalPrefix + id)
  return { account: form.get('account') ?? '', declined: scopes.filter(isLeft).map(({ id }) => id) }
}

function uidOf({ path }: Ask): string {
  return consentIn(path)!
}

function decisionOf(ask: Ask): Decision | null {
  const decision = fieldOf(ask, 'decision')
  if (decision === 'deny') return { kind: 'deny' }
  if (decision !== 'allow') return null
  const ticked = [...ask.form.keys()].filter(name => name.startsWith(optionalPrefix))
  return {
    kind: 'allow',
    account: fieldOf(ask, 'account') || null,
    optional: ticked.map(name => name.slice(optionalPrefix.length)),
  }
}

function pageFor(ask: Ask, step: ConsentStep, retry: Retry = {}): Page | PageResponse {
  switch (step.kind) {
    case 'gone':
      return over
    case 'resume':
      return leavePage(step.location)
    case 'sign_in':
      return redirectTo(leadingOn(paths.signIn, ask.path, hintsOf(step)))
    case 'refused':
      return refusedPage({ ...shownOf(ask, step), reason: step.reason })
    case 'consent':
      return consentPage({
        ...retry,
        ...shownOf(ask, step),
        accounts: step.accounts,
        scopes: step.scopes,
        apis: step.apis,
        resources: step.resources,
        remembered: step.remembered,
        chosen: chosenIn(ask, step.scopes) ?? step.remembered,
      })
  }
}

function hintsOf({ isFresh, loginHint }: ConsentStep & { readonly kind: 'sign_in' }): Record<string, string> {
  return { ...(isFresh && { fresh: '1' }), ...(loginHint !== null && { login_hint: loginHint }) }
}

function shownOf(
  ask: Ask,
  { client, person, redirectUri }: ConsentStep & { readonly kind: 'refused' | 'consent' },
) {
  return {
    token: tokenFor(ask, ask.path),
    action: ask.path,
    app: appOf(client),
    redirectUri,
    email: person.email,
    self: ask.path,
  }
}

function appOf(client: OAuthClient): ShownApp {
  const { name, logoUri, visibility, clientUri, verification, policyUri, tosUri, document } = client
  const proven = provenHostOf(client)
  const host = proven ?? (clientUri === null ? null : (verification?.host ?? null))
  return {
    name,
    document: document?.url ?? null,
    logo: logoUri,
    publisher: host === null ? null : { host, isVerified: proven !== null },
    isPrivate: visibility === 'private',
    policyUri,
    termsUri: tosUri,
  }
}

/** Sends a browser on; only a page that a form has just left may open an app without another click. */
function leave(location: string, before: ConsentStep): Page | PageResponse {
  const opensApp = 'redirectUri' in before && appSchemeOf(before.redirectUri) !== null
  return opensApp ? redirectTo(location) : leavePage(location)
}

const over = messagePage({
  status: 404,
  title: 'This request is over',
  text: 'It has expired, or was finished, maybe in another window. Go back to the app and begin again.',
})
