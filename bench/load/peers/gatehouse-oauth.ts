// The native AI route of Gatehouse as a contestant whose callers show an access token of OAuth; its store is filled before it starts.
import { join } from 'node:path'
import { newId } from '../../../src/base/ids/id.ts'
import { newClient } from '../../../src/oauth/clients/client.ts'
import { areSuper, roles } from '../../../src/permissions/roles.ts'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { everybody } from '../../../src/store/records/people.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { tokenKeyId, tokenKeyOwner } from '../../../src/store/records/token-key.ts'
import { taggerOfKey, TokenTags } from '../../../src/tokens/token-tags.ts'
import type { Door } from '../call.ts'
import { keep } from '../launch.ts'
import type { Peer } from '../peers.ts'
import { tokensWith } from '../unknown-tokens.ts'
import { gatehouseAi, nativeDoor } from './gatehouse-ai.ts'

const HOUR = 3_600_000
const SCOPES = ['ai_gateway.run']
const ROLES = roles.filter(({ name }) => name === 'AI Gateway Admin').map(({ id }) => id)

/** Makes a peer of the native route, called with an access token of a person who consented. */
export function gatehouseOauth(): Peer {
  const native = gatehouseAi('native', 'gatehouse oauth')
  let door: Door | null = null
  return {
    ...native,
    async prepare(port, origin) {
      const { file, args, env, metrics } = await native.prepare(port, origin)
      const { account, token, revoked } = await fill(join(env!.GATEHOUSE_DATA!, 'gatehouse.db'))
      door = { ...nativeDoor(account, token), revoked }
      // No token is printed at a start on a store that is not empty.
      return { file, args, env: env!, metrics: metrics! }
    },
    door: () => door!,
  }
}

/** Fills a new store as a first start does, and has a person in it consent to an app. */
async function fill(path: string): Promise<{ account: string; token: string; revoked: string }> {
  const store = await openStore(`sqlite:${path}`, { commandTimeout: 5000 })
  try {
    const now = Date.now()
    const { account } = (await new FirstFill(store).run(now))!
    const { record } = (await store.tokenKeys.get(tokenKeyOwner, tokenKeyId))!
    const revoked = keep('revoked-tokens', tokensWith('svco_', taggerOfKey(record)))
    return { account, token: await consent(store, account, now), revoked }
  } finally {
    await store.close()
  }
}

/** What an app asks for. */
interface Wish {
  readonly scopes: readonly string[]
  /** The URLs of APIs; none for all of ours. */
  readonly resource: readonly string[]
}

/** Keeps a person, an app, the consent and an access token; returns the value of the token. */
export async function consent(
  store: Store,
  account: string,
  now: number,
  { scopes, resource }: Wish = { scopes: SCOPES, resource: [] },
): Promise<string> {
  const [user, grant] = [newId(), newId()]
  const { value, digest } = await new TokenTags(store).mint('svco_')
  const client = newClient(account, { ...APP, scopes }, { secret: null, verification: null, now })
  const times = { createdAt: now, modifiedAt: now }
  await store.users.insert({ ...PERSON, id: user, email: `${user}@example.com`, ...times })
  const isSuper = areSuper(ROLES)
  await store.members.insert({
    ...{ account, id: newId(), user, status: 'accepted', roles: ROLES, isSuper },
    ...times,
  })
  await store.oauthClients.insert(client)
  await store.oauthGrants.insert({
    ...{ account, id: grant, user, client: client.id, clientAccount: account, scopes },
    ...{ declined: [], resource, createdAt: now, updatedAt: now },
  })
  await store.credentials.put({
    ...{ kind: 'access_token', digest, user, client: client.id, grant },
    data: { account, scope: scopes.join(' '), ...(resource.length > 0 && { aud: resource }) },
    ...{ createdAt: now, expiresAt: now + HOUR, consumedAt: null },
  })
  return value
}

const PERSON = {
  account: everybody,
  firstName: null,
  lastName: null,
  password: null,
  identity: null,
  totp: null,
  passwordChangedAt: null,
} as const

const APP = {
  name: 'Bench',
  grantTypes: ['authorization_code'],
  responseTypes: ['code'],
  tokenEndpointAuthMethod: 'none',
  redirectUris: ['https://app.example/callback'],
  postLogoutRedirectUris: [],
  allowedCorsOrigins: [],
  optionalScopes: [],
  logoUri: null,
  policyUri: null,
  tosUri: null,
  clientUri: null,
} as const
