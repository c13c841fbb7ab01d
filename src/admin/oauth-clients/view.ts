// The management API's view of an OAuth client: never a digest, and a secret only when it is created.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { ClientSecret, OAuthClient } from '../../store/records/oauth-client.ts'
import { isoTime, isoTimeOfUse } from '../records/record-handlers.ts'
import { viewVerification } from './verification-view.ts'

/** `secret` is the value of one that was just created. */
export function viewClient(client: OAuthClient, keys: SecretKeys, secret: string | null = null) {
  const lost = client.secrets.filter(({ key }) => !keys.knows(key)).length
  return {
    client_id: client.id,
    ...(secret !== null && { client_secret: secret }),
    ...viewSettings(client),
    visibility: client.visibility,
    has_rotated_secret: client.secrets.length > 1,
    ...(lost > 0 && { secret_status: lost < client.secrets.length ? 'partly_key_lost' : 'key_lost' }),
    client_secrets: client.secrets.map(secret => viewSecret(secret, keys)),
    ...(client.clientUri !== null &&
      client.verification && { client_uri_verification: viewVerification(client.verification) }),
    created_at: isoTime(client.createdAt),
    updated_at: isoTime(client.updatedAt),
    ...(client.promotedAt !== null && { promoted_at: isoTime(client.promotedAt) }),
  }
}

function viewSettings(client: OAuthClient) {
  return {
    client_name: client.name,
    grant_types: client.grantTypes,
    response_types: client.responseTypes,
    token_endpoint_auth_method: client.tokenEndpointAuthMethod,
    redirect_uris: client.redirectUris,
    post_logout_redirect_uris: client.postLogoutRedirectUris,
    allowed_cors_origins: client.allowedCorsOrigins,
    scopes: client.scopes,
    optional_scopes: client.optionalScopes,
    ...(client.logoUri !== null && { logo_uri: client.logoUri }),
    ...(client.policyUri !== null && { policy_uri: client.policyUri }),
    ...(client.tosUri !== null && { tos_uri: client.tosUri }),
    ...(client.clientUri !== null && { client_uri: client.clientUri }),
  }
}

function viewSecret({ tail, key, createdAt, lastUsedAt }: ClientSecret, keys: SecretKeys) {
  return {
    created_at: isoTime(createdAt),
    tail,
    ...(!keys.knows(key) && { status: 'key_lost' }),
    ...(lastUsedAt !== null && { last_used_at: isoTimeOfUse(lastUsedAt, createdAt) }),
  }
}
