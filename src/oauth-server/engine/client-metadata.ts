// A client in the library's form, which carries the client as stored.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { LibraryClient, Payload } from './library.ts'

export function recordOf({ registered }: Pick<LibraryClient, 'registered'>): OAuthClient {
  return registered as OAuthClient
}

/** The library accepts these values in place of those that it never compares. */
export function metadataOf(client: OAuthClient): Payload {
  const hasSecret = client.tokenEndpointAuthMethod !== 'none'
  return {
    client_id: client.id,
    ...(hasSecret && { client_secret: 'compared elsewhere' }),
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    grant_types: [...client.grantTypes],
    response_types: ['code'],
    redirect_uris: ['https://compared.elsewhere.invalid/'],
    registered: client,
  }
}
