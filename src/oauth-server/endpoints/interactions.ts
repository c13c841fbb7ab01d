// What a person is asked on the way to a code: what a page shows of it, and what their decision leads to. The
// pages themselves are elsewhere.

import type { IncomingMessage } from 'node:http'
import { type Clock, systemClock } from '../../base/clock.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { scopesBeyond } from '../../permissions/roles.ts'
import type { Asking, AskedScope, Decision, Finished, Refused } from '../../oauth/grants/consent-request.ts'
import type { Happening } from '../../oauth/grants/authorization-log.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import type { Credential, Json } from '../../store/records/credential.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import { everybody } from '../../store/records/people.ts'
import { apisOf } from '../../oauth/grants/resource-indicator.ts'
import type { Account, Api } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import { digestOf } from '../../tokens/token.ts'
import type { ClientDirectory } from '../../oauth/clients/client-directory.ts'
import { Consents } from '../../oauth/grants/consents.ts'
import { cookieNames, cookiesOf } from '../http/cookies.ts'
import { redirectMatches } from '../../oauth/clients/redirect-uri.ts'
import type { Person } from '../engine/request.ts'
import { isMember } from '../../oauth/grants/eligibility.ts'

interface InteractionsParts {
  readonly store: Store
  readonly clients: ClientDirectory
  readonly personOf: (request: IncomingMessage) => Promise<Person | null>
  readonly issuer: () => string
  /** Returns the API that a resource indicator names. */
  readonly apiOf: (resource: string) => Api | null
  /** Keeps what happened for the owner of the client. */
  readonly note: (happening: Happening) => void
  readonly clock?: Clock
}

/** What the engine keeps of an interaction, as far as it is used here. */
interface Kept {
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly prompt: { readonly name: string; readonly reasons: readonly string[] }
  readonly returnTo: string
  readonly result?: object
  readonly lastSubmission?: object
}

interface Opened {
  readonly credential: Credential
  readonly kept: Kept
  readonly client: OAuthClient
}

export class Interactions {
  readonly #store: Store
  readonly #clients: ClientDirectory
  readonly #personOf: InteractionsParts['personOf']
  readonly #issuer: () => string
  readonly #apiOf: InteractionsParts['apiOf']
  readonly #note: InteractionsParts['note']
  readonly #consents: Consents
  readonly #clock: Clock

  constructor({ store, clients, personOf, issuer, apiOf, note, clock = systemClock }: InteractionsParts) {
    this.#apiOf = apiOf
    this.#note = note
    this.#store = store
    this.#clients = clients
    this.#personOf = personOf
    this.#issuer = issuer
    this.#clock = clock
    this.#consents = new Consents(store, clock)
  }

  /** Finds what to ask the person whose browser sent the request; rejects with `StoreUnreachable`. */
  async load(uid: string, request: IncomingMessage): Promise<Asking> {
    const opened = await this.#open(uid, request)
    if (opened === null) return gone
    const { kept, client } = opened
    const person = await this.#personOf(request)
    if (person === null || !this.#isLately(person, opened)) {
      const loginHint = textOf(kept.params.login_hint)
      const isFresh = person !== null || kept.prompt.reasons.includes('login_prompt')
      return { kind: 'sign_in', client, loginHint, isFresh }
    }
    if (kept.prompt.name === 'login') return this.#resume(opened, loginOf(person))
    const asking = await this.#askConsent(opened, person)
    if (asking.kind === 'refused') this.#noteRefusal(asking)
    return asking
  }

  /**
   * Whether the person has proved who they are as lately as the request wants: since it was made, or within
   * its `max_age`.
   */
  #isLately({ signedInAt }: Person, { kept, credential }: Opened): boolean {
    const { name, reasons } = kept.prompt
    const wishes = name === 'login' ? reasons.filter(reason => reason !== 'no_session') : []
    if (wishes.length === 0) return true
    if (signedInAt === null) return false
    if (signedInAt > credential.createdAt) return true
    const isYoung = this.#clock.now() - signedInAt <= Number(kept.params.max_age) * 1000
    return isYoung && wishes.every(wish => wish === 'max_age')
  }

  /** Keeps what the person decided; rejects with `StoreUnreachable`. */
  async finish(uid: string, request: IncomingMessage, decision: Decision): Promise<Finished> {
    const opened = await this.#open(uid, request)
    if (opened === null) return gone
    const person = await this.#personOf(request)
    const asked = person && (await this.#askConsent(opened, person))
    if (decision.kind === 'deny') {
      const reason = asked?.kind === 'refused' ? refusals[asked.reason] : 'the person did not allow it'
      return this.#resume(opened, { error: 'access_denied', error_description: reason })
    }
    if (person === null || asked === null) return gone
    if (asked.kind !== 'consent') return { kind: 'invalid' }
    const account = decision.account ?? everybody
    const isOffered =
      asked.accounts.length === 0 ? account === everybody : asked.accounts.some(({ id }) => id === account)
    if (!isOffered) return { kind: 'invalid' }
    const isAllowed = ({ id, isOptional }: AskedScope) => !isOptional || decision.optional.includes(id)
    const grant = await this.#consents.keep({
      client: opened.client,
      user: person.user,
      account,
      allowed: asked.scopes.filter(isAllowed).map(({ id }) => id),
      declined: asked.scopes.filter(scope => !isAllowed(scope)).map(({ id }) => id),
      resource: resourceOf(opened.kept),
      redirectUri: asked.redirectUri,
    })
    return this.#resume(opened, { select_account: {}, consent: { account, grant: grant.id } })
  }

  /** The person may leave it at the page, and the app would never hear of it. */
  #noteRefusal({ client, person, reason }: Refused): void {
    this.#note({
      client: client.id,
      clientAccount: client.account,
      step: 'consent',
      result: 'failure',
      error: 'access_denied',
      reason: refusals[reason],
      user: person.user,
      account: null,
      address: '',
      ray: '',
      isUnproven: true,
    })
  }

  /**
   * Returns the app that an interaction is of, as long as it can go on, to whichever browser: its cookie is
   * not sent to the pages on which people sign in.
   */
  async clientOf(uid: string): Promise<OAuthClient | null> {
    return (await this.#find(uid))?.client ?? null
  }

  /** Reads an interaction; null unless the browser that began it asks. */
  async #open(uid: string, request: IncomingMessage): Promise<Opened | null> {
    const name = cookieNames(this.#issuer()).interaction
    return cookiesOf(request).includes(`${name}=${uid}`) ? this.#find(uid) : null
  }

  async #find(uid: string): Promise<Opened | null> {
    if (!/^[\w-]{21,64}$/.test(uid)) return null
    const credential = await this.#store.credentials.get('interaction', digestOf(uid))
    if (credential === null) return null
    const kept = credential.data as unknown as Kept
    const client = await this.#clients.find(textOf(kept.params.client_id) ?? '')
    if (client === null) return null
    const isRegistered = redirectMatches(textOf(kept.params.redirect_uri) ?? '', client.redirectUris)
    return isRegistered ? { credential, kept, client } : null
  }

  async #askConsent({ kept, client }: Opened, person: Person): Promise<Asking> {
    const redirectUri = textOf(kept.params.redirect_uri) ?? ''
    const refused = (reason: Refused['reason']): Asking => ({
      kind: 'refused',
      client,
      person,
      redirectUri,
      reason,
    })
    if (client.visibility === 'private' && !(await isMember(this.#store, client.account, person.user)))
      return refused('not a member')
    const ids = (textOf(kept.params.scope) ?? '').split(' ')
    const scopes = oauthScopes
      .filter(({ id }) => ids.includes(id))
      .map(({ id, name, description, category }) => {
        const isOptional = client.optionalScopes.includes(id)
        return { id, name, description, category, isOptional }
      })
    const reaching = oauthScopes.filter(({ id, isIdentity }) => !isIdentity && ids.includes(id))
    const resource = resourceOf(kept)
    const covering = await this.#consents.covering(client, person.user, {
      scopes: scopes.map(({ id }) => id),
      resource,
      redirectUri,
    })
    const consent = {
      ...({ kind: 'consent', client, person, redirectUri, scopes } as const),
      apis: apisOf(resource, this.#apiOf),
      remembered: covering && { ...covering.grant, isHostSeen: covering.isHostSeen },
    }
    if (reaching.length === 0) return { ...consent, accounts: [] }
    const required = reaching.map(({ id }) => id).filter(id => !client.optionalScopes.includes(id))
    const able = await this.#accountsOf(person, required)
    if (able.length === 0) return refused('no account')
    const user = (await this.#store.users.get(everybody, person.user))?.record
    const open = able.filter(account => user !== undefined && !lacksSecondFactor(user, account))
    if (open.length === 0) return refused('no second factor')
    const accounts = open.map(({ id, name }) => ({ id, name }))
    return { ...consent, accounts }
  }

  /** Lists the accounts where the roles of a person reach all of the scopes. */
  async #accountsOf({ user }: Person, scopes: readonly string[]): Promise<readonly Account[]> {
    const members = await this.#store.members.ofUser(user)
    const able = members.filter(
      ({ status, roles }) => status === 'accepted' && scopesBeyond(roles, scopes).length === 0,
    )
    const accounts = await mapInTurns(able, ({ account }) => this.#store.accounts.get(account))
    return accounts.filter(account => account !== null)
  }

  async #resume(
    { credential, kept }: Opened,
    result: object,
  ): Promise<{ kind: 'resume'; location: string } | typeof gone> {
    const isError = 'error' in result
    const data = { ...kept, result: isError ? result : { ...kept.lastSubmission, ...result } }
    const isKept = await this.#store.credentials.put(
      { ...credential, data: data as unknown as Json },
      'present',
    )
    return isKept ? { kind: 'resume', location: kept.returnTo } : gone
  }
}

const gone = { kind: 'gone' } as const

/** Why somebody cannot let an app in, for its owner. */
const refusals: Readonly<Record<Refused['reason'], string>> = {
  'not a member': 'the client is private, and the user is no member of its account',
  'no account': 'the roles of the user reach the scopes in no account',
  'no second factor': 'the account requires two-step sign-in, which the user lacks',
}

function loginOf({ user, signedInAt }: Person): object {
  return { login: { accountId: user, ...(signedInAt !== null && { ts: Math.floor(signedInAt / 1000) }) } }
}

function resourceOf({ params }: Kept): readonly string[] {
  return [params.resource ?? []].flat()
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
