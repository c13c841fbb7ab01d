// The token of a signed-in person: derived from memberships at each request, and stored nowhere.

import { type Clock, systemClock } from '../../base/clock.ts'
import { mapInTurns } from '../../base/turns/map-in-turns.ts'
import { groupsOfRoles } from '../../permissions/roles.ts'
import { oauthScopes } from '../../permissions/scopes.ts'
import { pages } from '../../store/records/audit-entry.ts'
import { everybody, isEmailVerified, type Member } from '../../store/records/people.ts'
import type { Account, ActingApp, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Actor } from './own-account.ts'
import { lacksSecondFactor } from '../second-factor/second-factor.ts'

export interface PlaceOfPerson {
  readonly id: string
  readonly name: string
  /** Whether it requires a second factor, which the person lacks: they may do nothing there. */
  readonly isShut: boolean
}

export interface PersonToken {
  readonly token: Token
  /** By the creation of the membership. */
  readonly places: readonly PlaceOfPerson[]
}

interface Place {
  readonly member: Member
  readonly account: Account
}

export class PersonTokens {
  readonly #store: Store
  readonly #clock: Clock

  constructor(store: Store, clock: Clock = systemClock) {
    this.#store = store
    this.#clock = clock
  }

  async of(actor: Actor): Promise<PersonToken> {
    const members = (await this.#store.members.ofUser(actor.user.id)).filter(
      ({ status }) => status === 'accepted',
    )
    const all = await mapInTurns(members, member => this.#placeOf(member))
    const places = all.filter(place => place !== null)
    return {
      token: tokenOf(actor, places, this.#clock.now()),
      places: places.map(({ account }) => ({
        id: account.id,
        name: account.name,
        isShut: lacksSecondFactor(actor.user, account),
      })),
    }
  }

  async #placeOf(member: Member): Promise<Place | null> {
    const account = await this.#store.accounts.get(member.account)
    return account && { member, account }
  }
}

export function isInPerson(actor: Pick<ActingApp, 'client'>): boolean {
  return actor.client === pages.client
}

function tokenOf({ user, session }: Actor, places: readonly Place[], now: number): Token {
  return {
    account: everybody,
    id: user.id,
    name: user.email,
    digest: '',
    status: 'active',
    policies: places
      .filter(({ account }) => !lacksSecondFactor(user, account))
      .map(({ member, account }) => policyOf(member, account)),
    notBefore: null,
    expiresOn: null,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: session.createdAt,
    modifiedOn: now,
    actor: {
      user: user.id,
      email: user.email,
      ...(isEmailVerified(user) && { isEmailVerified: true }),
      ...pages,
      grant: session.id,
      end: null,
      members: places.map(({ member }) => member.id),
      scopes: identityScopes,
      apis: ['management'],
    },
  }
}

function policyOf({ id, roles }: Member, account: Account): Token['policies'][number] {
  return { id, effect: 'allow', permissionGroups: [...groupsOfRoles(roles)], accounts: [account.id] }
}

const identityScopes = oauthScopes.filter(({ isIdentity }) => isIdentity).map(({ id }) => id)
