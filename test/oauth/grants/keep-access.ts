// Keeps in a store what an access token is made of, as the authorization server and the API do.

import assert from 'node:assert/strict'
import type { Store } from '../../../src/store/contract/store.ts'
import { TokenTags } from '../../../src/tokens/token-tags.ts'
import { partsWith, roleIds } from './parts-with.ts'

/** Keeps all of it, and returns the value and the parts. */
export async function keepAccess(store: Store, wish: Parameters<typeof partsWith>[0] = {}) {
  const { value: _, ...made } = partsWith(wish)
  const { value, digest } = await new TokenTags(store).mint('svco_')
  const parts = { ...made, credential: { ...made.credential, digest } }
  const { credential, grant, client, user, member, insider } = parts
  await store.users.insert(user)
  await store.members.insert(member)
  if (insider.account !== member.account) await store.members.insert(insider)
  await store.oauthClients.insert(client)
  await store.oauthGrants.insert(grant)
  await store.credentials.put(credential)
  return { value, ...parts }
}

type Kept = Awaited<ReturnType<typeof keepAccess>>

interface End {
  readonly end: (store: Store, kept: Kept) => Promise<unknown>
  /** What an AI call gets from then on, and who lists gateways. */
  readonly status: { readonly call: number; readonly list: number }
}

const gone = { call: 401, list: 401 }

/** What ends an access token, or what it may do, in part. */
export const endsOf: Readonly<Record<string, End>> = {
  'the token is revoked': {
    end: (store, { credential }) => store.credentials.remove('access_token', credential.digest),
    status: gone,
  },
  'the consent is withdrawn': {
    end: (store, { grant }) => change(store, 'oauthGrants', grant, null),
    status: gone,
  },
  'all tokens of the consent are revoked': {
    end: (store, { grant }) => store.credentials.removeOf({ grant: grant.id }),
    status: gone,
  },
  'its user signs out everywhere': {
    end: (store, { user }) => store.credentials.removeOf({ user: user.id }),
    status: gone,
  },
  'the client is deleted': {
    end: (store, { client }) => change(store, 'oauthClients', client, null),
    status: gone,
  },
  'the scope is dropped from the client': {
    end: (store, { client }) => change(store, 'oauthClients', client, { scopes: ['ai_gateway.read'] }),
    status: { call: 403, list: 200 },
  },
  'the role is lowered': {
    end: (store, { member }) =>
      change(store, 'members', member, { roles: roleIds('Administrator Read Only') }),
    status: { call: 403, list: 200 },
  },
  'the member is removed': {
    end: (store, { member }) => change(store, 'members', member, null),
    status: gone,
  },
  'the member of the private client is removed': {
    end: (store, { insider }) => change(store, 'members', insider, null),
    status: gone,
  },
  'the user is deleted': { end: (store, { user }) => change(store, 'users', user, null), status: gone },
}

/** Replaces members of a record, or removes it where they are null. */
async function change<N extends 'members' | 'oauthClients' | 'oauthGrants' | 'users'>(
  store: Store,
  noun: N,
  { account, id }: { readonly account: string; readonly id: string },
  changes: object | null,
): Promise<void> {
  const records = store[noun]
  if (changes === null) return void assert.ok(await records.remove(account, id))
  const found = (await records.get(account, id))!
  assert.ok(await records.replace({ ...found.record, ...changes } as never, found.version))
}
