// The paths of the pages. A site may share the host: below `/auth` and `/oauth2` all is ours, and nothing
// else.

export const paths = {
  signIn: '/auth/sign-in',
  code: '/auth/sign-in/code',
  provider: '/auth/sign-in/openid',
  callback: '/auth/sign-in/callback',
  signOut: '/auth/sign-out',
  signedOut: '/auth/signed-out',
  signUp: '/auth/sign-up',
  setUp: '/auth/set-up',
  invitation: '/auth/invitation',
  account: '/auth/account',
  confirm: '/auth/account/confirm',
  password: '/auth/account/password',
  twoStep: '/auth/account/two-step',
  twoStepConfirm: '/auth/account/two-step/confirm',
  twoStepOff: '/auth/account/two-step/off',
  recoveryCodes: '/auth/account/two-step/recovery-codes',
  endSession: '/auth/account/sessions/end',
  endAllSessions: '/auth/account/sessions/end-all',
  endGrant: '/auth/account/apps/end',
  acceptInvitation: '/auth/account/invitations/accept',
  declineInvitation: '/auth/account/invitations/decline',
  dashboard: '/dashboard',
} as const

/** Returns the path of an account's pages. */
export function dashboardOf(account: string): string {
  return `${paths.dashboard}/${encodeURIComponent(account)}`
}

/** Returns the path of a person's own tokens in an account. */
export function ownTokensOf(account: string): string {
  return `${dashboardOf(account)}/your-tokens`
}

const consent = '/oauth2/consent/'

/** Returns the path of a consent. */
export function consentPath(uid: string): string {
  return consent + uid
}

/** Whether a path is one of the pages where people sign in, or would be. */
export function isOfSignIn(path: string): boolean {
  return path === '/auth' || path.startsWith('/auth/') || consentIn(path) !== null
}

/** Finds the consent of a path, without its query; null for another path. */
export function consentIn(path: string): string | null {
  const uid = path.startsWith(consent) ? path.slice(consent.length) : ''
  return /^[\w-]{1,64}$/.test(uid) ? uid : null
}

/** Returns a path that continues to another one when it is done; `more` is for its query too. */
export function leadingOn(path: string, next: string, more: Readonly<Record<string, string>> = {}): string {
  return `${path}?${new URLSearchParams({ next, ...more })}`
}

/** Returns the path of a set-up, with its secret. */
export function setUpPath(link: string): string {
  return `${paths.setUp}?token=${encodeURIComponent(link)}`
}

/** Returns the path of an invitation, with its secret. */
export function invitationPath(link: string): string {
  return `${paths.invitation}?token=${encodeURIComponent(link)}`
}

/** Finds the secret of an invitation in its path; null for another path. */
export function invitationIn(path: string): string | null {
  const start = `${paths.invitation}?`
  return path.startsWith(start) ? new URLSearchParams(path.slice(start.length)).get('token') : null
}
