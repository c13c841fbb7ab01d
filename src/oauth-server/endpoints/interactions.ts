// The interactions of people on the way to a code: what a page shows, and what a decision leads to.

import type { IncomingMessage } from 'node:http'
import { type Clock, systemClock } from '../../base/clock.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { scopesBeyond } from '../../permissions/roles.ts'
import type {
  ConsentStep,
  RequestedScope,
  Decision,
  DecisionResult,
  ConsentRefusal,
} from '../../oauth/grants/consent-request.ts'
import type { AuthorizationOutcome } from '../../oauth/grants/authorization-log.ts'
import { isOptional, withIncluded } from '../../permissions/scopes.ts'
import type { RouteResources } from '../../oauth/grants/route-resources.ts'
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
import { admits, isMember } from '../../oauth/grants/eligibility.ts'

interface InteractionsParts {
  readonly store: Store
  readonly clients: ClientDirectory
  readonly personOf: (request: IncomingMessage) => Promise<Person | null>
  readonly issuer: () => string
  readonly apiOf: (resource: string) => Api | null
  readonly routes: RouteResources
  readonly note: (outcome: AuthorizationOutcome) => void
  readonly clock?: Clock
}

interface Interaction {
  readonly params: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly prompt: { readonly name: string; readonly reasons: readonly string[] }
  readonly returnTo: string
  readonly result?: object
  readonly lastSubmission?: object
}

interface OpenInteraction {
  readonly credential: Credential
  readonly interaction: Interaction
  readonly client: OAuthClient
}

export class Interactions {
  readonly #parts: InteractionsParts
  readonly #consents: Consents
  readonly #clock: Clock

  constructor(parts: InteractionsParts) {
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#consents = new Consents(parts.store, parts.apiOf, this.#clock)
  }

  async load(uid: string, request: IncomingMessage): Promise<ConsentStep> {
    const open = await this.#open(uid, request)
    if (open === null) return gone
    const { interaction, client } = open
    const person = await this.#parts.personOf(request)
    if (person === null || !this.#isRecent(person, open)) {
      const loginHint = textOf(interaction.params.login_hint)
      const isFresh = person !== null || interaction.prompt.reasons.includes('login_prompt')
      return { kind: 'sign_in', client, loginHint, isFresh }
    }
    if (interaction.prompt.name === 'login') return this.#resume(open, loginOf(person))
    const step = await this.#consentStep(open, person)
    if (step.kind === 'refused') this.#noteRefusal(step)
    return step
  }

  /** Since the request was made, or within its `max_age`. */
  #isRecent({ signedInAt }: Person, { interaction, credential }: OpenInteraction): boolean {
    const { name, reasons } = interaction.prompt
    const demands = name === 'login' ? reasons.filter(reason => reason !== 'no_session') : []
    if (demands.length === 0) return true
    if (signedInAt === null) return false
    if (signedInAt > credential.createdAt) return true
    const isWithinMaxAge = this.#clock.now() - signedInAt <= Number(interaction.params.max_age) * 1000
    return isWithinMaxAge && demands.every(demand => demand === 'max_age')
  }

  async finish(uid: string, request: IncomingMessage, decision: Decision): Promise<DecisionResult> {
    const open = await this.#open(uid, request)
    if (open === null) return gone
    const person = await this.#parts.personOf(request)
    const step = person && (await this.#consentStep(open, person))
    if (decision.kind === 'deny') {
      const reason = step?.kind === 'refused' ? refusals[step.reason] : 'the person did not allow it'
      return this.#resume(open, { error: 'access_denied', error_description: reason })
    }
    if (person === null || step === null) return gone
    if (step.kind !== 'consent') return { kind: 'invalid' }
    const account = decision.account ?? everybody
    const isOffered =
      step.accounts.length === 0 ? account === everybody : step.accounts.some(({ id }) => id === account)
    if (!isOffered) return { kind: 'invalid' }
    const isAllowed = ({ id, isOptional }: RequestedScope) => !isOptional || decision.optional.includes(id)
    if (!(await this.#parts.clients.keep(open.client, person.user))) return this.#resume(open, tooMany)
    const grant = await this.#consents.store({
      client: open.client,
      user: person.user,
      account,
      allowed: step.scopes.filter(isAllowed).map(({ id }) => id),
      declined: step.scopes.filter(scope => !isAllowed(scope)).map(({ id }) => id),
      resource: resourceOf(open.interaction),
      redirectUri: step.redirectUri,
    })
    return this.#resume(open, { select_account: {}, consent: { account, grant: grant.id } })
  }

  /** Notes the refusal at once: if the person leaves the page, the app never hears of it. */
  #noteRefusal({ client, person, reason }: ConsentRefusal): void {
    this.#parts.note({
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

  /** To any browser: the pages on which people sign in do not get its cookie. */
  async clientOf(uid: string): Promise<OAuthClient | null> {
    return (await this.#find(uid))?.client ?? null
  }

  /** Finds an interaction; null unless the request comes from the browser that started it. */
  async #open(uid: string, request: IncomingMessage): Promise<OpenInteraction | null> {
    const name = cookieNames(this.#parts.issuer()).interaction
    return cookiesOf(request).includes(`${name}=${uid}`) ? this.#find(uid) : null
  }

  async #find(uid: string): Promise<OpenInteraction | null> {
    if (!/^[\w-]{21,64}$/.test(uid)) return null
    const credential = await this.#parts.store.credentials.get('interaction', digestOf(uid))
    if (credential === null) return null
    const interaction = credential.data as unknown as Interaction
    const client = await this.#clientOf(textOf(interaction.params.client_id) ?? '')
    if (client === null) return null
    const isRegistered = redirectMatches(textOf(interaction.params.redirect_uri) ?? '', client.redirectUris)
    return isRegistered ? { credential, interaction, client } : null
  }

  async #clientOf(id: string): Promise<OAuthClient | null> {
    const { clients } = this.#parts
    const last = await clients.find(id)
    if (last !== null) return last
    // Another machine may have fetched its document.
    const client = await clients.current(id, null)
    return client !== null && 'id' in client ? client : null
  }

  async #consentStep({ interaction, client }: OpenInteraction, person: Person): Promise<ConsentStep> {
    const redirectUri = textOf(interaction.params.redirect_uri) ?? ''
    const refused = (reason: ConsentRefusal['reason']): ConsentStep => ({
      kind: 'refused',
      client,
      person,
      redirectUri,
      reason,
    })
    if (client.visibility === 'private' && !(await isMember(this.#parts.store, client.account, person.user)))
      return refused('not a member')
    const ids = (textOf(interaction.params.scope) ?? '').split(' ')
    const all = this.#parts.routes.scopes
    const scopes = askedOnce(
      all
        .filter(({ id }) => ids.includes(id))
        .map(({ id, name, description, category }) => ({
          ...{ id, name, description, category },
          isOptional: isOptional(id, client),
        })),
    )
    const reaching = all.filter(({ id, isIdentity, isOwn }) => !isIdentity && !isOwn && ids.includes(id))
    const resource = resourceOf(interaction)
    const covering = await this.#consents.covering(client, person.user, {
      scopes: scopes.map(({ id }) => id),
      resource,
      redirectUri,
    })
    const consent = {
      ...({ kind: 'consent', client, person, redirectUri, scopes } as const),
      apis: apisOf(resource, this.#parts.apiOf),
      resources: resource.filter(
        one => this.#parts.apiOf(one) === null && this.#parts.routes.at(one) !== null,
      ),
      remembered: covering && { ...covering.grant, isHostSeen: covering.isHostSeen },
    }
    if (reaching.length === 0) return { ...consent, accounts: [] }
    const required = reaching.map(({ id }) => id).filter(id => !client.optionalScopes.includes(id))
    const able = await this.#accountsOf(person, required)
    if (able.length === 0) return refused('no account')
    const admitting = able.filter(account => admits(account, client))
    if (admitting.length === 0) return refused('not allowed')
    const user = (await this.#parts.store.users.get(everybody, person.user))?.record
    const open = admitting.filter(account => user !== undefined && !lacksSecondFactor(user, account))
    if (open.length === 0) return refused('no second factor')
    const accounts = open.map(({ id, name }) => ({ id, name }))
    return { ...consent, accounts }
  }

  async #accountsOf({ user }: Person, scopes: readonly string[]): Promise<readonly Account[]> {
    const members = await this.#parts.store.members.ofUser(user)
    const able = members.filter(
      ({ status, roles }) => status === 'accepted' && scopesBeyond(roles, scopes).length === 0,
    )
    const accounts = await mapInTurns(able, ({ account }) => this.#parts.store.accounts.get(account))
    return accounts.filter(account => account !== null)
  }

  async #resume(
    { credential, interaction }: OpenInteraction,
    result: object,
  ): Promise<{ kind: 'resume'; location: string } | typeof gone> {
    const isError = 'error' in result
    const data = { ...interaction, result: isError ? result : { ...interaction.lastSubmission, ...result } }
    const isStored = await this.#parts.store.credentials.put(
      { ...credential, data: data as unknown as Json },
      'present',
    )
    return isStored ? { kind: 'resume', location: interaction.returnTo } : gone
  }
}

const gone = { kind: 'gone' } as const

const tooMany = {
  error: 'temporarily_unavailable',
  error_description: 'this server knows as many clients by their documents as it may',
} as const

const refusals: Readonly<Record<ConsentRefusal['reason'], string>> = {
  'not a member': 'the client is private, and the user is no member of its account',
  'no account': 'the roles of the user reach the scopes in no account',
  'not allowed': 'the accounts of the user allow only apps that are registered',
  'no second factor': 'the account requires two-step sign-in, which the user lacks',
}

/** Leaves out a scope that another one includes, unless people can decline the other one alone. */
function askedOnce(scopes: readonly RequestedScope[]): readonly RequestedScope[] {
  const isIncluded = (one: RequestedScope) =>
    scopes.some(
      other =>
        other !== one && withIncluded([other.id]).includes(one.id) && (one.isOptional || !other.isOptional),
    )
  return scopes.filter(scope => !isIncluded(scope))
}

function loginOf({ user, signedInAt }: Person): object {
  return { login: { accountId: user, ...(signedInAt !== null && { ts: Math.floor(signedInAt / 1000) }) } }
}

function resourceOf({ params }: Interaction): readonly string[] {
  return [params.resource ?? []].flat()
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
