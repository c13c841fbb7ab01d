// What a client must have before it can become public, and while it is.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthScope } from '../../permissions/scopes.ts'
import { provenHostOf } from './proven-host.ts'

interface MissingPrecondition {
  /** The member of the management API. */
  readonly member: 'client_name' | 'logo_uri' | 'client_uri' | 'scopes'
  /** Without a full stop at its end. */
  readonly sentence: string
}

/** Lists what is missing; empty if the client can be public. `all` are the scopes that exist. */
export function missingForPublic(
  client: OAuthClient,
  all: readonly OAuthScope[],
): readonly MissingPrecondition[] {
  return preconditions.flatMap(({ member, lack }) => {
    const sentence = lack(client, all)
    return sentence === null ? [] : [{ member, sentence }]
  })
}

interface Precondition {
  readonly member: MissingPrecondition['member']
  readonly lack: (client: OAuthClient, all: readonly OAuthScope[]) => string | null
}

const beforeAll = 'before the client can become public'

const preconditions: readonly Precondition[] = [
  {
    member: 'client_name',
    lack: ({ name }) => (name.trim() === '' ? `client_name must be set ${beforeAll}` : null),
  },
  {
    member: 'logo_uri',
    lack: ({ logoUri }) => (logoUri === null ? `logo_uri must be set ${beforeAll}` : null),
  },
  { member: 'client_uri', lack: lackOfClientUri },
  {
    member: 'scopes',
    lack: ({ scopes }, all) =>
      all.some(({ id, isIdentity }) => !isIdentity && scopes.includes(id))
        ? null
        : `scopes must include at least one that is not an identity scope ${beforeAll}`,
  },
]

function lackOfClientUri(client: OAuthClient): string | null {
  const { clientUri, verification } = client
  if (clientUri === null) return `client_uri must be set, and its host must be verified by DNS, ${beforeAll}`
  if (provenHostOf(client) !== null) return null
  const remedy =
    verification?.status === 'failed' ? '; verification has failed: send client_uri again to restart it' : ''
  return `The host of client_uri must be verified by DNS ${beforeAll}${remedy}`
}
