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

/** The methods of the paths that are served. */
export const methods: Readonly<Record<string, readonly string[]>> = {
  [paths.authorization]: ['GET', 'POST'],
  [paths.token]: ['POST', 'OPTIONS'],
  [paths.revocation]: ['POST', 'OPTIONS'],
  [paths.introspection]: ['POST'],
  [paths.userinfo]: ['GET', 'POST', 'OPTIONS'],
  [paths.endSession]: ['GET', 'POST'],
  [paths.jwks]: ['GET', 'OPTIONS'],
  [paths.openid]: ['GET', 'OPTIONS'],
  [paths.metadata]: ['GET', 'OPTIONS'],
}

const resuming = new RegExp(`^${paths.authorization}/[\\w-]{21,64}$`)

/** The pages about errors, of all or of one. */
export const documents = /^\/oauth2\/errors(?:\/([a-z_]{1,60}))?$/

/** Whether a path is one of these endpoints, or a step of one. */
export function isOfOAuth(path: string): boolean {
  return Object.hasOwn(methods, path) || resuming.test(path) || documents.test(path)
}
