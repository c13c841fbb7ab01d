// Views of OAuth grants, each with what its reader needs to decide.

import { clientIdOf } from '../../oauth/clients/document-url.ts'
import { provenHostOf } from '../../oauth/clients/proven-host.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { isEmailVerified, type User } from '../../store/records/people.ts'
import type { Account } from '../../store/records/records.ts'
import { isoTime } from '../records/record-handlers.ts'

export function viewForUser(grant: OAuthGrant, client: OAuthClient | null, account: Account | null) {
  return {
    ...viewGrant(grant),
    client: viewClientOf(grant, client),
    ...(account && { account: { id: account.id, name: account.name } }),
  }
}

export function viewForAccount(grant: OAuthGrant, client: OAuthClient | null, user: User | null) {
  return {
    ...viewGrant(grant),
    client: viewClientOf(grant, client),
    user: { id: grant.user, ...(user && { email: user.email, email_verified: isEmailVerified(user) }) },
  }
}

/** Shows the owner of a client its users: by the ids in its tokens. */
export function viewForOwner(grant: OAuthGrant) {
  return { ...viewGrant(grant), user: { id: grant.user }, account: { id: grant.account } }
}

function viewGrant({ id, scopes, resource, createdAt, updatedAt }: OAuthGrant) {
  return { id, scopes, resource, created_at: isoTime(createdAt), updated_at: isoTime(updatedAt) }
}

function viewClientOf({ client: client_id }: OAuthGrant, client: OAuthClient | null) {
  if (client === null) return { client_id }
  const { name, logoUri, clientUri, visibility } = client
  const proven = provenHostOf(client)
  return {
    client_id: clientIdOf(client),
    client_name: name,
    ...(logoUri !== null && { logo_uri: logoUri }),
    ...(clientUri !== null && { client_uri: clientUri }),
    visibility,
    ...(proven !== null && { verified_host: proven }),
  }
}
