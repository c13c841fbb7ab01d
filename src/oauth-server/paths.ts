// Where the endpoints of the authorization server are.

export const paths = {
  authorization: '/oauth2/auth',
  token: '/oauth2/token',
  revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect',
  userinfo: '/oauth2/userinfo',
  endSession: '/oauth2/logout',
  errors: '/oauth2/errors',
  jwks: '/.well-known/jwks.json',
  openid: '/.well-known/openid-configuration',
  metadata: '/.well-known/oauth-authorization-server',
} as const
