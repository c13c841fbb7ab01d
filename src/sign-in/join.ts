// Handlers of joining: set-up, invitations, sign-up.

import type { People } from '../people/people.ts'
import { passwordFlaws } from '../people/passwords/password-rules.ts'
import { roleOf } from '../permissions/roles.ts'
import type { Page, PageResponse } from '../pages/parts/layout.ts'
import { redirectTo } from '../pages/parts/layout.ts'
import { throttledMessage } from '../pages/parts/throttled-message.ts'
import { invitationPath, leadingOn, paths } from '../pages/parts/paths.ts'
import { invitationPage, setUpPage, signUpPage } from '../pages/views/join.ts'
import { messagePage } from '../pages/views/message.ts'
import { type Retry, signInPage } from '../pages/views/sign-in.ts'
import {
  type Again,
  type Ask,
  fieldOf,
  homeOf,
  type Handler,
  type Handlers,
  inputOf,
  linkIsOver,
  nextOf,
  signedIn,
  tokenFor,
} from './ask.ts'

const showSetUp: Handler = (ask, people) => setUp(ask, people, ask.query.get('token') ?? '')

const takeSetUp: Handler = async (ask, people) => {
  const link = fieldOf(ask, 'token')
  const person = { email: fieldOf(ask, 'email'), ...newPersonOf(ask) }
  const result = await people.setUp.complete(link, person, ask.visit, ask.session)
  people.metrics.signIn('link', countedAs(result.outcome))
  if (result.outcome === 'signed_in') return signedIn(ask, result.value, homeOf(ask))
  if (result.outcome === 'gone') return linkIsOver
  return setUp(ask, people, link, retryOf(ask, result))
}

const setUpAgain: Again = (ask, people, retry) => setUp(ask, people, fieldOf(ask, 'token'), retry)

async function setUp(ask: Ask, people: People, link: string, retry: Retry = {}): Promise<Page> {
  if ((await people.setUp.find(link)) === null) return linkIsOver
  return setUpPage({ ...retry, token: tokenFor(ask, paths.setUp), link, email: null })
}

const showInvitation: Handler = (ask, people) => invitation(ask, people, ask.query.get('token') ?? '')

const takeInvitation: Handler = async (ask, people) => {
  const link = fieldOf(ask, 'token')
  if (ask.actor !== null) {
    const joined = await people.invitations.acceptAs(ask.actor.user, link, ask.visit)
    if (joined.outcome === 'accepted') return redirectTo(homeOf(ask, joined.account.id))
    return joined.outcome === 'gone' ? linkIsOver : invitation(ask, people, link)
  }
  const result = await people.invitations.acceptWithPassword(link, newPersonOf(ask), ask.visit, ask.session)
  people.metrics.signIn('link', countedAs(result.outcome))
  if (result.outcome === 'signed_in') return signedIn(ask, result.value, homeOf(ask, result.account.id))
  if (result.outcome === 'gone') return linkIsOver
  if (result.outcome === 'known') return redirectTo(leadingOn(paths.signIn, invitationPath(link)))
  return invitation(ask, people, link, retryOf(ask, result))
}

const invitationAgain: Again = (ask, people, retry) => invitation(ask, people, fieldOf(ask, 'token'), retry)

async function invitation(
  ask: Ask,
  people: People,
  link: string,
  retry: Retry = {},
): Promise<Page | PageResponse> {
  const invitation = await people.invitations.find(link)
  if (invitation === null) return linkIsOver
  const { account, member, user, isKnown } = invitation
  return invitationPage({
    ...retry,
    token: tokenFor(ask, paths.invitation),
    signOutToken: tokenFor(ask, paths.signOut),
    link,
    account: account.name,
    email: user.email,
    roles: member.roles.map(id => roleOf(id)?.name ?? id),
    isKnown,
    signedInAs: ask.actor?.user.email ?? null,
    provider: people.openId?.providerName ?? null,
  })
}

const showSignUp: Handler = async (ask, people) => signUp(ask, people)

const takeSignUp: Handler = async (ask, people) => {
  const email = fieldOf(ask, 'email')
  const result = await people.signUp.signUp({ email, ...newPersonOf(ask) }, ask.visit)
  if (result.outcome === 'closed') return closed
  if (result.outcome !== 'done') return signUp(ask, people, retryOf(ask, result))
  return signInPage({
    token: tokenFor(ask, paths.signIn),
    next: nextOf(ask),
    input: { email },
    // The text does not reveal whether the user existed.
    done: 'Now sign in with your email and password. If you had an account already, its password is as it was.',
    provider: people.openId?.providerName ?? null,
    canSignUp: true,
  })
}

const signUpAgain: Again = async (ask, people, retry) => signUp(ask, people, retry)

function signUp(ask: Ask, people: People, retry: Retry = {}): Page {
  if (people.config.signUp !== 'open') return closed
  return signUpPage({ ...retry, token: tokenFor(ask, paths.signUp), next: nextOf(ask) })
}

const closed = messagePage({
  status: 404,
  title: 'People are invited here',
  text: 'Ask an administrator of the account that you need for an invitation link.',
  link: { href: paths.signIn, text: 'Sign in' },
})

type Trouble =
  | { readonly outcome: 'throttled' | 'busy'; readonly retryAfter: number }
  | { readonly outcome: 'flawed'; readonly flaw: keyof typeof passwordFlaws }
  | { readonly outcome: 'bad_email'; readonly fault: string }
  | { readonly outcome: 'email_taken' }

function retryOf(ask: Ask, result: Trouble): Retry {
  const input = inputOf(ask)
  switch (result.outcome) {
    case 'flawed':
      return { input, faults: { password: passwordFlaws[result.flaw] }, status: 422 }
    case 'bad_email':
      return { input, faults: { email: `The address ${result.fault}.` }, status: 422 }
    case 'email_taken':
      return { input, faults: { email: 'There is a user with this address already.' }, status: 422 }
    default:
      return { input, ...throttledMessage(result) }
  }
}

function countedAs(outcome: string) {
  if (outcome === 'gone') return 'expired'
  return (['signed_in', 'throttled', 'busy'] as const).find(one => one === outcome) ?? 'refused'
}

function newPersonOf(ask: Ask) {
  return {
    password: fieldOf(ask, 'password'),
    firstName: fieldOf(ask, 'first_name'),
    lastName: fieldOf(ask, 'last_name'),
  }
}

export const joinHandlers: readonly (readonly [string, Handlers])[] = [
  [paths.setUp, { show: showSetUp, take: takeSetUp, again: setUpAgain }],
  [paths.invitation, { show: showInvitation, take: takeInvitation, again: invitationAgain }],
  [paths.signUp, { show: showSignUp, take: takeSignUp, again: signUpAgain }],
]
