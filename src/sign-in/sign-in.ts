// Handlers of signing in and out.

import { endCookie } from '../pages/forms/cookies.ts'
import { type Page, redirectTo, withCookies } from '../pages/parts/layout.ts'
import { throttledMessage } from '../pages/parts/throttled-message.ts'
import { consentIn, invitationIn, paths } from '../pages/parts/paths.ts'
import { messagePage } from '../pages/views/message.ts'
import { codePage, type Retry, signedOutPage, signInPage, signOutPage } from '../pages/views/sign-in.ts'
import { shownNameOf } from '../oauth/clients/proven-host.ts'
import type { People } from '../people/people.ts'
import {
  type Again,
  type Ask,
  fieldOf,
  homeOf,
  type Handler,
  type Handlers,
  isSecure,
  nextOf,
  signedIn,
  tokenFor,
} from './ask.ts'
import { confirmHandlers, toSignIn } from './confirm.ts'
import type { Interactions } from './consent.ts'
import { partyOf, requestOptions } from './passkey-options.ts'
import { passkeyTroubles } from './passkey-troubles.ts'
import { type SiteParts, siteBehind } from './site-pages.ts'

export function signInHandlers(
  interactions: Interactions | null,
  site: SiteParts | null,
): readonly (readonly [string, Handlers])[] {
  const signIn = new SignInPages(interactions, site)
  return [
    [paths.signIn, { show: signIn.show, take: signIn.take, again: signIn.again }],
    [paths.passkey, { show: toSignIn, take: signIn.takePasskey, again: signIn.again }],
    [paths.code, { show: toSignIn, take: signIn.takeCode, again: signIn.codeAgain }],
    [paths.codeByPasskey, { show: toSignIn, take: signIn.takeCodeByPasskey, again: signIn.codeAgain }],
    [paths.provider, { show: signIn.toProvider }],
    [paths.callback, { show: signIn.fromProvider }],
    ...confirmHandlers,
    [paths.signOut, { show: showSignOut, take: takeSignOut, again: signOutAgain }],
    [paths.signedOut, { show: async ask => signedOutPage(nextOf(ask)) }],
  ]
}

const wrong = 'Email or password is wrong.'
const cannotCheck =
  'Codes of your app cannot be checked just now: the server has lost the key for them. Use a recovery code, or ask the operator of this server.'
const tookTooLong = 'That took too long, or was finished elsewhere. Sign in again.'

class SignInPages {
  readonly #interactions: Interactions | null
  readonly #site: SiteParts | null

  constructor(interactions: Interactions | null, site: SiteParts | null) {
    this.#interactions = interactions
    this.#site = site
  }

  readonly show: Handler = async (ask, people) => {
    const isFresh = ask.query.get('fresh') === '1'
    if (ask.actor !== null && !isFresh) return redirectTo(nextOf(ask))
    const email = ask.actor?.user.email ?? ask.query.get('login_hint') ?? ''
    const retry =
      isFresh && ask.actor !== null
        ? { trouble: 'Sign in again: what comes next needs a fresh proof that it is you.' }
        : {}
    return this.#page(ask, people, { ...retry, isFresh, input: { email: email.slice(0, 254) } })
  }

  readonly take: Handler = async (ask, people) => {
    const email = fieldOf(ask, 'email')
    const password = fieldOf(ask, 'password')
    const result = await people.signIn.withPassword({ email, password }, ask.visit, ask.session)
    people.metrics.signIn('password', result.outcome)
    switch (result.outcome) {
      case 'signed_in':
        return signedIn(ask, result.value, nextOf(ask))
      case 'needs_code':
        return this.#codePage(ask, people, result.ticket)
      case 'refused':
        return this.#page(ask, people, { input: { email }, trouble: wrong, status: 403 })
      default:
        return this.#page(ask, people, { input: { email }, ...throttledMessage(result) })
    }
  }

  readonly takePasskey: Handler = async (ask, people) => {
    const at = partyOf(ask)
    if (at === null) return toSignIn(ask, people)
    const shown = { response: fieldOf(ask, 'response'), at, browser: ask.secret }
    const result = await people.passkeys.signIn(shown, ask.visit, ask.session)
    people.metrics.signIn('passkey', result.outcome)
    if (result.outcome === 'signed_in') return signedIn(ask, result.value, nextOf(ask))
    if (result.outcome === 'throttled') return this.#page(ask, people, throttledMessage(result))
    return this.#page(ask, people, { trouble: passkeyTroubles[result.outcome], status: 403 })
  }

  readonly takeCodeByPasskey: Handler = async (ask, people) => {
    const at = partyOf(ask)
    if (at === null) return toSignIn(ask, people)
    const ticket = fieldOf(ask, 'ticket')
    const shown = { response: fieldOf(ask, 'response'), at, browser: ask.secret }
    const result = await people.passkeys.withTicket(ticket, shown, ask.visit, ask.session)
    people.metrics.signIn('code', result.outcome)
    if (result.outcome === 'signed_in') return signedIn(ask, result.value, nextOf(ask))
    if (result.outcome === 'throttled') return this.#codePage(ask, people, ticket, throttledMessage(result))
    return this.#codePage(ask, people, ticket, { trouble: passkeyTroubles[result.outcome], status: 403 })
  }

  readonly takeCode: Handler = async (ask, people) => {
    const ticket = fieldOf(ask, 'ticket')
    const name = ask.form.has('recovery_code') ? 'recovery_code' : 'code'
    const result = await people.signIn.withCode({ ticket, code: fieldOf(ask, name) }, ask.visit, ask.session)
    people.metrics.signIn('code', result.outcome)
    switch (result.outcome) {
      case 'signed_in':
        return signedIn(ask, result.value, nextOf(ask))
      case 'expired':
        return this.#page(ask, people, { trouble: tookTooLong, status: 403 })
      case 'unreadable':
        return this.#codePage(ask, people, ticket, { trouble: cannotCheck, status: 503, opensRecovery: true })
      case 'refused':
        return this.#codePage(ask, people, ticket, {
          faults: { [name]: 'This code is wrong, or was used before.' },
          status: 403,
        })
      default:
        return this.#codePage(ask, people, ticket, throttledMessage(result))
    }
  }

  readonly again: Again = (ask, people, retry) => this.#page(ask, people, retry)

  readonly codeAgain: Again = async (ask, people, retry) =>
    this.#codePage(ask, people, fieldOf(ask, 'ticket'), retry)

  readonly toProvider: Handler = async (ask, people) => {
    if (people.openId === null) return noProvider
    const next = nextOf(ask)
    const isFresh = ask.query.get('fresh') === '1'
    const redirectUri = ask.origin + paths.callback
    const invitation = invitationIn(next)
    const beginning = { browser: ask.secret, next, invitation, redirectUri, isFresh }
    const result = await people.openId.begin(beginning, ask.visit)
    if (result.outcome === 'sent') return redirectTo(result.url)
    people.metrics.signIn('provider', result.outcome)
    const trouble =
      result.outcome === 'unreachable' ? { trouble: unreachable, status: 503 } : throttledMessage(result)
    return this.#page(ask, people, trouble)
  }

  readonly fromProvider: Handler = async (ask, people) => {
    if (people.openId === null) return noProvider
    const url = new URL(ask.origin + paths.callback)
    url.search = ask.query.toString()
    const result = await people.openId.finish({ browser: ask.secret, url }, ask.visit, ask.session)
    people.metrics.signIn('provider', result.outcome === 'not_fresh' ? 'refused' : result.outcome)
    const next = 'next' in result ? result.next : homeOf(ask)
    const troubled = (trouble: string) => this.#page(ask, people, { trouble, status: 403 }, next)
    switch (result.outcome) {
      case 'signed_in':
        return signedIn(ask, result.value, next)
      case 'needs_code':
        return this.#codePage(ask, people, result.ticket, {}, next)
      case 'refused':
        return troubled(result.message)
      case 'unreachable':
        return troubled(unreachable)
      case 'expired':
        return troubled(tookTooLong)
      case 'not_fresh':
        return this.#page(ask, people, { trouble: notFresh, status: 403, isFresh: true }, next)
      default:
        return troubled(denied[result.outcome])
    }
  }

  async #page(
    ask: Ask,
    people: People,
    retry: Retry & { readonly isFresh?: boolean },
    next = nextOf(ask),
  ): Promise<Page> {
    const at = partyOf(ask)
    return signInPage({
      ...retry,
      token: tokenFor(ask, paths.signIn),
      next,
      app: await this.#appBehind(next),
      provider: people.openId?.providerName ?? null,
      canSignUp: people.config.signUp === 'open',
      isFirst: !(await people.hasUsers()),
      passkey: at && {
        token: tokenFor(ask, paths.passkey),
        options: requestOptions(people.passkeys.challengeToSignIn(ask.secret), at),
      },
    })
  }

  async #codePage(
    ask: Ask,
    people: People,
    ticket: string,
    retry: Retry & { readonly opensRecovery?: boolean } = {},
    next = nextOf(ask),
  ): Promise<Page> {
    const at = partyOf(ask)
    const steps = await people.passkeys.stepsOf(ticket, at?.host ?? null)
    if (steps === null) return this.#page(ask, people, { trouble: tookTooLong, status: 403 }, next)
    const { hasApp, passkeys } = steps
    const hasPasskey = at !== null && passkeys.length > 0
    return codePage({
      ...retry,
      token: tokenFor(ask, paths.code),
      ticket,
      next,
      hasApp,
      passkey: hasPasskey
        ? {
            token: tokenFor(ask, paths.codeByPasskey),
            options: requestOptions(people.passkeys.challengeToStep(ticket, ask.secret), at, passkeys),
          }
        : null,
    })
  }

  async #appBehind(next: string): Promise<string | null> {
    const site = this.#site && siteBehind(next, this.#site)
    if (site !== null) return site
    const uid = consentIn(next)
    const client = uid === null ? null : await this.#interactions?.clientOf(uid)
    return client ? shownNameOf(client) : null
  }
}

const unreachable = 'The provider could not be reached. Try again, or sign in by password.'

const notFresh =
  'The provider did not show that you signed in there just now, which what comes next needs. Sign in there again, or by password.'

const denied = {
  denied: 'You did not sign in at the provider.',
  failed:
    'The provider sent something that cannot be trusted. Try again; if it happens again, tell your administrator.',
} as const

const noProvider = messagePage({
  status: 404,
  title: 'No provider',
  text: 'People sign in with a password here.',
  link: { href: paths.signIn, text: 'Sign in' },
})

const showSignOut: Handler = async ask => signOut(ask)

const signOutAgain: Again = async (ask, _, retry) => signOut(ask, retry)

function signOut(ask: Ask, retry: Retry = {}): Page {
  if (ask.actor === null) return signedOutPage(nextOf(ask))
  const { email } = ask.actor.user
  return signOutPage({ ...retry, token: tokenFor(ask, paths.signOut), email, next: nextOf(ask) })
}

const takeSignOut: Handler = async (ask, people) => {
  if (ask.session !== null) await people.ownAccount.signOut(ask.session, ask.visit)
  const next = ask.form.has('next') ? nextOf(ask) : paths.signedOut
  return withCookies(redirectTo(next), [endCookie('gatehouse', isSecure(ask))])
}
