// Makes what an access token is made of, for tests: all of it good and allowing nothing, but for what the test says.

import { randomBytes } from 'node:crypto'
import type { Parts } from '../../../src/oauth/grants/access-tokens.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { everybody, type Member } from '../../../src/store/records/people.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { clientWith } from '../clients/client-with.ts'

const idOfNow = () => randomBytes(16).toString('hex')

/** Returns the ids of roles by their names. */
export function roleIds(...names: readonly string[]): string[] {
  return names.map(name => roles.find(role => role.name === name)!.id)
}

export const superAdministrator = 'Super Administrator - All Privileges'

type WholeParts = { readonly [Name in keyof Parts]: NonNullable<Parts[Name]> }

interface Wish {
  readonly scopes?: readonly string[]
  readonly roles?: readonly string[]
  readonly aud?: string | readonly string[]
  readonly now?: number
  /** Ms for which it is valid. */
  readonly life?: number
  readonly account?: string
  readonly clientAccount?: string
}

/** Makes an access token and its parts: of a private client of another account unless both are given, of which the user is a member, too. */
export function partsWith(wish: Wish = {}): { value: string } & WholeParts {
  const { scopes = ['ai_gateway.run'], now = 0, life = 3_600_000, aud } = wish
  const { account = idOfNow(), clientAccount = idOfNow() } = wish
  const { value, digest } = mintToken('svco_')
  const [user, grant] = [idOfNow(), idOfNow()]
  const client = { ...clientWith(), account: clientAccount, id: idOfNow(), scopes }
  const times = { createdAt: now, modifiedAt: now }
  const memberOf = (account: string, roles: readonly string[]): Member => ({
    account,
    id: idOfNow(),
    user,
    status: 'accepted',
    roles,
    isSuper: false,
    ...times,
  })
  return {
    value,
    credential: {
      kind: 'access_token',
      digest,
      user,
      client: client.id,
      grant,
      data: { account, family: idOfNow(), scope: scopes.join(' '), ...(aud !== undefined && { aud }) },
      createdAt: now,
      expiresAt: now + life,
      consumedAt: null,
    },
    grant: {
      account,
      id: grant,
      user,
      client: client.id,
      clientAccount,
      scopes,
      declined: [],
      resource: [],
      redirectHosts: ['app.example'],
      createdAt: now,
      updatedAt: now,
    },
    client,
    user: {
      account: everybody,
      id: user,
      email: `${user}@example.com`,
      firstName: null,
      lastName: null,
      password: null,
      identity: null,
      totp: null,
      passwordChangedAt: null,
      ...times,
    },
    account: { id: account, name: 'Main account', createdAt: 0 },
    member: memberOf(account, wish.roles ?? roleIds(superAdministrator)),
    insider: memberOf(clientAccount, []),
  }
}
