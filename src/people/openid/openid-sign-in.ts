// Signs in at an OpenID provider: a user is matched by identity, verified address, invitation or session.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Logger } from '../../log/log.ts'
import { inPerson } from '../../store/records/audit-entry.ts'
import { isEmailVerified, type User } from '../../store/records/people.ts'
import { emailFault, normalEmail } from '../records/email.ts'
import {
  type Challenge,
  clockSkew,
  type Direction,
  type OpenIdProvider,
  type ProvenIdentity,
} from './openid-provider.ts'
import type { GroupRoles } from './group-roles.ts'
import type { Invitations } from '../links/invitations.ts'
import { hasApp, withoutFactors } from '../second-factor/second-factor.ts'
import { digestOfValue, isValue, newValue } from '../records/secret-value.ts'
import { revokeAfterTakeover } from '../sessions/revoke-after-takeover.ts'
import type { NeedsCode, TryLater, SignedIn, SignIn, SignInParts } from '../sign-in/sign-in.ts'
import { changeAudited } from '../records/self-audit.ts'
import { canSignIn, newUser, withNames } from '../records/users.ts'
import type { ClientInfo } from '../records/client-info.ts'

/** Why a person known to the provider cannot sign in here, and the message for it. */
const openIdRefusals = {
  no_verified_email:
    'The provider did not confirm an e-mail address of yours. Confirm one there, or open the link of an invitation, and sign in again.',
  no_link:
    'The provider does not confirm e-mail addresses. Ask an administrator of the account for an invitation, open its link, and sign in from there.',
  other_tenant: 'People of your organization cannot sign in here. Sign in with an account of another one.',
  other_identity:
    'Another person at the provider already signs in here with your e-mail address. Ask an administrator of your account for help.',
  not_invited: 'You are not a user here. Ask an administrator of the account for an invitation.',
} as const

type Refusal = keyof typeof openIdRefusals

type Match = User | Refusal

type BeginResult =
  | TryLater
  | { readonly outcome: 'sent'; readonly url: string }
  | { readonly outcome: 'unreachable' }

type FinishResult =
  | ((SignedIn | NeedsCode) & { readonly next: string })
  | { readonly outcome: 'refused'; readonly reason: Refusal; readonly message: string; readonly next: string }
  /** `denied` by person or provider, `failed` by an invalid response, `not_fresh` without a new sign-in. */
  | { readonly outcome: 'denied' | 'failed' | 'not_fresh' | 'unreachable'; readonly next: string }
  /** It was begun more than ten minutes ago, in another browser, or has been finished. */
  | { readonly outcome: 'expired' }

interface Beginning extends Direction {
  readonly browser: string
  readonly next: string
  readonly invitation?: string | null
}

interface OpenIdParts {
  readonly provider: OpenIdProvider
  readonly invitations: Invitations
  readonly signIn: SignIn
  readonly isOpen: boolean
  readonly groupRoles: GroupRoles
  readonly log: Logger
}

/** Ms that a person may stay at the provider. */
const attemptLife = 600_000

export class OpenIdSignIn {
  readonly #parts: SignInParts
  readonly #own: OpenIdParts

  constructor(parts: SignInParts, own: OpenIdParts) {
    this.#parts = parts
    this.#own = own
  }

  get providerName(): string {
    return this.#own.provider.name
  }

  async begin(
    { browser, next, invitation = null, ...direction }: Beginning,
    { address }: Pick<ClientInfo, 'address'>,
  ): Promise<BeginResult> {
    const retryAfter = await this.#parts.throttle.toProvider(address)
    if (retryAfter !== null) return { outcome: 'throttled', retryAfter }
    const { value: state, digest } = newValue()
    const now = this.#parts.clock.now()
    const url = await this.#ask(() =>
      this.#own.provider.authorizationUrl(challengeOf(state, browser), direction),
    )
    if (url === null) return { outcome: 'unreachable' }
    const { store, keys } = this.#parts
    // It may lead to a link whose secret is stored nowhere.
    const sealed = keys.seal(next, contextOf(digest))
    await store.credentials.put({
      kind: 'sign_in',
      digest,
      user: null,
      client: null,
      grant: null,
      data: {
        step: 'openid',
        browser: digestOfValue(browser),
        next: sealed,
        invitation: invitation && keys.seal(invitation, contextOf(digest)),
        isFresh: direction.isFresh === true,
      },
      createdAt: now,
      expiresAt: now + attemptLife,
      consumedAt: null,
    })
    return { outcome: 'sent', url }
  }

  /** `url` is the whole one at which the browser came back; `replaced` is the session it had. */
  async finish(
    { browser, url }: { readonly browser: string; readonly url: URL },
    client: ClientInfo,
    replaced: string | null = null,
  ): Promise<FinishResult> {
    const now = this.#parts.clock.now()
    const state = url.searchParams.get('state') ?? ''
    const attempt = await this.#attemptOf(state, browser, now)
    if (attempt === null) return { outcome: 'expired' }
    const { next } = attempt
    const identity = await this.#identityAt(url, challengeOf(state, browser))
    if (typeof identity === 'string') return { outcome: identity, next }
    const at = provenAt(identity, attempt, now)
    if (at === 'not_fresh') return { outcome: 'not_fresh', next }
    const session = replaced === null ? null : await this.#parts.sessions.find(replaced)
    const arrival = { client, now, present: session?.user ?? null, invitation: attempt.invitation }
    const user = this.#own.provider.admits(identity) ? await this.#userOf(identity, arrival) : 'other_tenant'
    if (typeof user === 'string')
      return { outcome: 'refused', reason: user, message: openIdRefusals[user], next }
    await this.#applyGroups(user, identity, { ...client, now })
    return { ...(await this.#own.signIn.proceed(user, { method: 'openid', at }, client, replaced)), next }
  }

  /** Before the session begins: a claim that cannot be understood gives nothing, and takes away. */
  async #applyGroups(user: User, { groups }: ProvenIdentity, arrival: ClientInfo & { readonly now: number }) {
    const { groupRoles, log } = this.#own
    if (groups === null)
      log.warn(
        { provider: this.providerName, user: user.id },
        'groups of the OpenID provider ignored: no list',
      )
    await groupRoles.apply(user, groups ?? [], arrival)
  }

  /** Uses up the attempt that has this state, of this browser. */
  async #attemptOf(
    state: string,
    browser: string,
    now: number,
  ): Promise<(Attempt & { readonly begunAt: number }) | null> {
    if (!isValue(state)) return null
    const { store, keys } = this.#parts
    const { credentials } = store
    const digest = digestOfValue(state)
    const credential = await credentials.get('sign_in', digest)
    const attempt = credential?.data as Attempt | undefined
    if (attempt?.step !== 'openid' || !isSame(attempt.browser, digestOfValue(browser))) return null
    const next = keys.unseal(attempt.next, contextOf(digest))
    const invitation = attempt.invitation ? keys.unseal(attempt.invitation, contextOf(digest)) : null
    const consumed = await credentials.consume('sign_in', digest, now)
    if (!consumed?.isFirst || next === null) return null
    return { ...attempt, next, invitation, begunAt: credential!.createdAt }
  }

  async #identityAt(
    url: URL,
    challenge: Challenge,
  ): Promise<ProvenIdentity | 'denied' | 'failed' | 'unreachable'> {
    try {
      return await this.#own.provider.identityAt(url, challenge)
    } catch (cause) {
      if (url.searchParams.get('error') === 'access_denied') return 'denied'
      this.#tell(cause)
      return isNetwork(cause) ? 'unreachable' : 'failed'
    }
  }

  async #userOf(identity: ProvenIdentity, arrival: Arrival): Promise<Match> {
    const { store } = this.#parts
    const { issuer, subject, verifiedEmail } = identity
    const email = verifiedEmail === null ? null : normalEmail(verifiedEmail)
    for (;;) {
      const user = await store.users.findByIdentity({ issuer, subject })
      const match = user
        ? await this.#noteEmail(user.record, email, arrival)
        : await this.#matchOf(email, identity, arrival)
      // A concurrent sign-in was faster: the same question has another result now.
      if (match !== null) return match
    }
  }

  async #matchOf(email: string | null, identity: ProvenIdentity, arrival: Arrival): Promise<Match | null> {
    if (email === null || emailFault(email) !== null) return this.#matchUnverified(identity, arrival)
    const owner = await this.#parts.store.users.findByEmail(email)
    return owner ? this.#link(owner.record, identity, arrival) : this.#create(email, identity, arrival.now)
  }

  /** An unverified address itself matches no user, whatever its spelling. */
  async #matchUnverified(identity: ProvenIdentity, arrival: Arrival): Promise<Match | null> {
    const { tenant, claimedEmail } = identity
    const email = claimedEmail && normalEmail(claimedEmail)
    const { present, invitation } = arrival
    // The address only shows whether they meant this user, and did not just switch to another of theirs.
    if (present !== null && present.email === email) return this.#link(present, identity, arrival)
    const invited = invitation === null ? null : await this.#own.invitations.find(invitation)
    if (invited !== null && !invited.isKnown) return this.#link(invited.user, identity, arrival, true)
    if (tenant === null) return 'no_verified_email'
    const isTaken = email === null || (await this.#parts.store.users.findByEmail(email)) !== null
    return isTaken || !this.#own.isOpen ? 'no_link' : this.#create(email, identity, arrival.now)
  }

  /** The address may be somebody else's by now. */
  async #noteEmail(user: User, verified: string | null, { client, now }: Arrival): Promise<Match | null> {
    const isVerified = verified === user.email
    if (isVerified === isEmailVerified(user)) return user
    const { store } = this.#parts
    const emailVerifiedAt = isVerified ? now : null
    const deed = { action: 'update', changed: ['email_verified'], client, now } as const
    return changeAudited(store, user, deed, before =>
      before.email === user.email ? { ...before, emailVerifiedAt, modifiedAt: now } : null,
    )
  }

  /** Lets a user sign in by this identity from now on; null if the user has changed in between. */
  async #link(
    owner: User,
    identity: ProvenIdentity,
    { client, now, present }: Arrival,
    isInvited = false,
  ): Promise<Match | null> {
    if (owner.identity !== null) {
      const failed = { action: 'sign_in', method: 'openid', failure: 'other_identity' } as const
      this.#parts.attempts.note(owner.email, client, failed)
      return 'other_identity'
    }
    const { store } = this.#parts
    // A user who signed up, or had an invitation link, has not proved the address: their access must end,
    // unless this browser shows that it is the same person.
    const isSamePerson = isInvited || owner.id === present?.id
    const members = await store.members.ofUser(owner.id)
    const isMember = members.some(({ status }) => status === 'accepted')
    const { issuer, subject, verifiedEmail } = identity
    const changed = isSamePerson || owner.password === null ? ['identity'] : ['identity', 'password']
    const link = (before: User) => {
      if (before.identity !== null || before.email !== owner.email) return null
      // The link of an invitation opens no user who has signed in since.
      if (isInvited && canSignIn(before)) return null
      const emailVerifiedAt = verifiedEmail === null ? null : now
      const proved = { identity: { issuer, subject }, emailVerifiedAt, modifiedAt: now }
      const linked = { ...withMissingNames(before, identity), ...proved }
      return isSamePerson ? linked : { ...withoutPassword(linked, isMember), passwordChangedAt: now }
    }
    const { address, ray } = client
    const asker = { caller: inPerson(owner), now, address, ray }
    // Before, since a crash must leave nothing; and after, since until then somebody might go on.
    const revoke = async () => isSamePerson || revokeAfterTakeover(store, owner.id, asker)
    await revoke()
    return changeAudited(store, owner, { action: 'update', changed, client, now }, link, revoke)
  }

  /** Null if the address or the identity was taken in between. */
  async #create(email: string, identity: ProvenIdentity, now: number): Promise<Match | null> {
    if (!this.#own.isOpen) return 'not_invited'
    const { issuer, subject, verifiedEmail } = identity
    const emailVerifiedAt = verifiedEmail === null ? null : now
    const proved = { identity: { issuer, subject }, emailVerifiedAt }
    const user = { ...withMissingNames(newUser(email, now), identity), ...proved }
    return (await this.#parts.store.users.insert(user)) ? user : null
  }

  async #ask<T>(question: () => Promise<T>): Promise<T | null> {
    try {
      return await question()
    } catch (cause) {
      this.#tell(cause)
      return null
    }
  }

  /** Logs the reason, without what the provider sent: tokens and claims may be in it. */
  #tell(cause: unknown): void {
    const { name, code, error, message } = cause as Error & {
      readonly code?: string
      readonly error?: string
    }
    this.#own.log.warn(
      { provider: this.providerName, name, code, error, reason: message },
      'sign-in at the OpenID provider failed',
    )
  }
}

interface Arrival {
  readonly client: ClientInfo
  readonly now: number
  readonly present: User | null
  /** The secret of the link with which they came. */
  readonly invitation: string | null
}

interface Attempt {
  readonly step: string
  readonly browser: string
  readonly next: string
  readonly invitation: string | null
  readonly isFresh: boolean
}

/** In ms of our clock, never later than now; null if the provider does not say. */
function provenAt(
  { authenticatedAt }: ProvenIdentity,
  { isFresh, begunAt }: { readonly isFresh: boolean; readonly begunAt: number },
  now: number,
): number | null | 'not_fresh' {
  if (!isFresh) return authenticatedAt && Math.min(authenticatedAt, now)
  if (authenticatedAt === null || authenticatedAt < begunAt - clockSkew) return 'not_fresh'
  // A difference within clock skew, and the whole seconds of the provider, are not earlier than the request.
  return Math.min(Math.max(authenticatedAt, begunAt), now)
}

/** Makes secrets that only this browser can present again; the store has neither its cookie nor the state. */
function challengeOf(state: string, browser: string): Challenge {
  const part = (use: string) => createHmac('sha256', browser).update(`${use} ${state}`).digest('base64url')
  return { state, nonce: part('nonce'), verifier: part('verifier') }
}

function contextOf(digest: string): string {
  return `next of ${digest}`
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function isNetwork(cause: unknown): boolean {
  const { code, name, cause: deeper } = cause as Error & { readonly code?: string }
  return (
    code === 'OAUTH_TIMEOUT' || name === 'TypeError' || (deeper as Error | undefined)?.name === 'TypeError'
  )
}

/** An app protects a member, and stays; for others it protects nothing. Passkeys alone would sign in. */
function withoutPassword(user: User, isMember: boolean): User {
  if (!isMember || !hasApp(user)) return { ...withoutFactors(user), password: null }
  const { passkeys, ...others } = user
  return { ...others, password: null }
}

function withMissingNames(user: User, { firstName, lastName }: ProvenIdentity): User {
  return withNames(user, { firstName: user.firstName ?? firstName, lastName: user.lastName ?? lastName })
}
