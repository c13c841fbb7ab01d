// A client in the library's form, which carries the client as stored.

import { clientIdOf } from '../../oauth/clients/document-url.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { LibraryClient, Payload } from './library.ts'

export function recordOf({ registered }: Pick<LibraryClient, 'registered'>): OAuthClient {
  return registered as OAuthClient
}

/** The library accepts these values in place of those that it never compares. */
export function metadataOf(client: OAuthClient): Payload {
  const { tokenEndpointAuthMethod: method, document } = client
  return {
    client_id: clientIdOf(client),
    ...(method.startsWith('client_secret_') && { client_secret: 'compared elsewhere' }),
    ...(method === 'private_key_jwt' && { jwks: { keys: document!.keys } }),
    token_endpoint_auth_method: method,
    grant_types: [...client.grantTypes],
    response_types: ['code'],
    redirect_uris: ['https://compared.elsewhere.invalid/'],
    registered: client,
  }
}
