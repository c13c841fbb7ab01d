// Handlers of a person's own account: password, sessions, connected apps.

import { passwordFlaws } from '../people/passwords/password-rules.ts'
import type { Actor } from '../people/sign-in/own-account.ts'
import type { People } from '../people/people.ts'
import { relyingPartyAt } from '../people/passkeys/relying-party.ts'
import { hasApp, recoveryCodesOf } from '../people/second-factor/second-factor.ts'
import { roleOf } from '../permissions/roles.ts'
import { endCookie } from '../pages/forms/cookies.ts'
import { type Page, type PageResponse, redirectTo, withCookies } from '../pages/parts/layout.ts'
import { throttledMessage } from '../pages/parts/throttled-message.ts'
import { leadingOn, paths } from '../pages/parts/paths.ts'
import { accountPage, type AccountMessage, accountMessages } from '../pages/views/account.ts'
import type { Retry } from '../pages/views/sign-in.ts'
import {
  type Again,
  type Ask,
  fieldOf,
  homeOf,
  type Handler,
  type Handlers,
  isSecure,
  signedIn,
  tokenFor,
} from './ask.ts'
import type { Grants } from './connected-apps.ts'

export function accountHandlers(grants: Grants): readonly (readonly [string, Handlers])[] {
  const show = ofPerson((ask, actor, people) => account(ask, actor, people, grants))
  const again: Again = (ask, people, retry) =>
    ofPerson((_, actor) => account(ask, actor, people, grants, retry))(ask, people)
  const take = (handle: PersonHandler): Handlers => ({
    show: async () => redirectTo(paths.account),
    take: ofPerson(handle),
    again,
  })
  return [
    [paths.account, { show }],
    [paths.password, take((ask, actor, people) => changePassword(ask, actor, people, grants))],
    [paths.endSession, take(endSession)],
    [paths.endAllSessions, take(endAllSessions)],
    [paths.endGrant, take((ask, actor) => endGrant(ask, actor, grants))],
    [paths.acceptInvitation, take((ask, actor, people) => acceptInvitation(ask, actor, people, grants))],
    [paths.declineInvitation, take(declineInvitation)],
  ]
}

export type PersonHandler = (ask: Ask, actor: Actor, people: People) => Promise<Page | PageResponse>

export function ofPerson(handle: PersonHandler): Handler {
  return async (ask, people) => {
    if (ask.actor !== null) return handle(ask, ask.actor, people)
    const isForm = ask.form.size > 0
    return redirectTo(leadingOn(paths.signIn, isForm ? paths.account : ask.path))
  }
}

export function proveAgain(): PageResponse {
  return redirectTo(leadingOn(paths.confirm, paths.account))
}

export function done(deed: AccountMessage): string {
  return `${paths.account}?done=${deed}`
}

async function account(
  ask: Ask,
  { session, user }: Actor,
  people: People,
  grants: Grants,
  retry: Retry = {},
): Promise<Page> {
  const [sessions, shownGrants, standing, invitations] = await Promise.all([
    people.sessions.list(user.id),
    grants.list(user.id),
    people.ownAccount.statusOf(user),
    people.invitations.pendingOf(user),
  ])
  const { email, firstName, lastName, password, passkeys } = user
  const party = relyingPartyAt(ask.origin)
  const ownHost = typeof party === 'string' ? null : party.host
  const deed = ask.query.get('done') ?? ''
  return accountPage({
    ...retry,
    tokenFor: path => tokenFor(ask, path),
    email,
    name: [firstName, lastName].filter(Boolean).join(' ') || null,
    hasPassword: password !== null,
    hasApp: hasApp(user),
    recoveryCodes: recoveryCodesOf(user).length,
    passkeys: (passkeys?.keys ?? []).map(({ host, ...key }) => ({
      ...key,
      otherHost: host === ownHost ? null : host,
    })),
    noPasskeys: typeof party === 'string' ? party : null,
    ...standing,
    hasDashboard: ask.hasDashboard,
    invitations: invitations.map(({ account, member }) => ({
      id: member.id,
      account: account.name,
      roles: member.roles.map(id => roleOf(id)?.name ?? id),
    })),
    sessions: sessions.map(one => ({ ...one, isThis: one.id === session.id })),
    grants: shownGrants,
    done: Object.hasOwn(accountMessages, deed) ? (deed as AccountMessage) : null,
  })
}

async function changePassword(ask: Ask, actor: Actor, people: People, grants: Grants) {
  const passwords = { current: fieldOf(ask, 'password'), password: fieldOf(ask, 'new_password') }
  const result = await people.ownAccount.changePassword(actor, passwords, ask.visit)
  const again = (retry: Retry) => account(ask, actor, people, grants, retry)
  switch (result.outcome) {
    case 'changed':
      return signedIn(ask, result.value, done('password'))
    case 'stale':
      return proveAgain()
    case 'flawed':
      return again({ faults: { new_password: passwordFlaws[result.flaw] }, status: 422 })
    case 'refused':
      return again({ faults: { password: 'The password is wrong.' }, status: 403 })
    default:
      return again(throttledMessage(result))
  }
}

const endSession: PersonHandler = async (ask, actor, people) => {
  await people.ownAccount.endSession(actor, fieldOf(ask, 'session'), ask.visit)
  return redirectTo(done('session'))
}

const endAllSessions: PersonHandler = async (ask, actor, people) => {
  await people.ownAccount.endAllSessions(actor, ask.visit)
  return withCookies(redirectTo(paths.signedOut), [endCookie('gatehouse', isSecure(ask))])
}

async function endGrant(ask: Ask, { user }: Actor, grants: Grants): Promise<PageResponse> {
  await grants.end(user, fieldOf(ask, 'grant'), ask.visit)
  return redirectTo(done('app'))
}

async function acceptInvitation(
  ask: Ask,
  actor: Actor,
  people: People,
  grants: Grants,
): Promise<Page | PageResponse> {
  const result = await people.invitations.acceptPending(actor.user, fieldOf(ask, 'membership'), ask.visit)
  if (result.outcome === 'accepted') return redirectTo(homeOf(ask, result.account.id))
  return account(ask, actor, people, grants, { trouble: 'This invitation is over.', status: 404 })
}

const declineInvitation: PersonHandler = async (ask, { user }, people) => {
  const isDone = await people.invitations.decline(user, fieldOf(ask, 'membership'), ask.visit)
  return redirectTo(isDone ? done('declined') : paths.account)
}
