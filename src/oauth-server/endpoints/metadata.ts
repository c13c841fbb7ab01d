// The metadata by which clients find the endpoints (RFC 8414, OpenID Connect Discovery).

import type { OAuthScope } from '../../permissions/scopes.ts'
import { paths } from '../http/paths.ts'

/** `hasDocuments`: whether clients may be known by the URL of a document. */
export function metadataOf(issuer: string, scopes: readonly OAuthScope[], hasDocuments: boolean): object {
  const authMethods = hasDocuments ? [...registered, 'private_key_jwt'] : registered
  const endpoint = (path: string) => `${issuer}${path}`
  return {
    issuer,
    authorization_endpoint: endpoint(paths.authorization),
    token_endpoint: endpoint(paths.token),
    revocation_endpoint: endpoint(paths.revocation),
    introspection_endpoint: endpoint(paths.introspection),
    userinfo_endpoint: endpoint(paths.userinfo),
    end_session_endpoint: endpoint(paths.endSession),
    jwks_uri: endpoint(paths.jwks),
    service_documentation: endpoint(paths.errors),
    scopes_supported: scopes.map(({ id }) => id),
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    introspection_endpoint_auth_methods_supported: authMethods,
    code_challenge_methods_supported: ['S256'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    claim_types_supported: ['normal'],
    claims_supported: ['sub', 'iss', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', ...ofUser],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ...(hasDocuments && {
      client_id_metadata_document_supported: true,
      token_endpoint_auth_signing_alg_values_supported: ['ES256'],
      revocation_endpoint_auth_signing_alg_values_supported: ['ES256'],
      introspection_endpoint_auth_signing_alg_values_supported: ['ES256'],
    }),
  }
}

const registered = ['client_secret_basic', 'client_secret_post', 'none']
const ofUser = ['account', 'email', 'email_verified', 'name', 'given_name', 'family_name']
