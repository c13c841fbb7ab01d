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

export function errorUri(issuer: string, error: string): string {
  return `${issuer}${paths.errors}/${error}`
}

export function isOfOAuth(path: string): boolean {
  return endpoints.has(path) || resumption.test(path) || errorDocumentOf(path) !== null
}

/** Returns the error of a page, in it null for all errors; null for another path. */
export function errorDocumentOf(path: string): { readonly error: string | null } | null {
  const match = /^\/oauth2\/errors(?:\/([a-z_]{1,60}))?$/.exec(path)
  return match && { error: match[1] ?? null }
}

const endpoints: ReadonlySet<string> = new Set(Object.values(paths))
const resumption = new RegExp(`^${paths.authorization}/[\\w-]{21,64}$`)
