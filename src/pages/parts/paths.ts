// The paths of the pages. A site may share the host: below `/auth` and `/oauth2` all is ours.

export const paths = {
  signIn: '/auth/sign-in',
  passkey: '/auth/sign-in/passkey',
  code: '/auth/sign-in/code',
  codeByPasskey: '/auth/sign-in/code/passkey',
  provider: '/auth/sign-in/openid',
  callback: '/auth/sign-in/callback',
  signOut: '/auth/sign-out',
  signedOut: '/auth/signed-out',
  site: '/auth/site',
  signUp: '/auth/sign-up',
  setUp: '/auth/set-up',
  invitation: '/auth/invitation',
  account: '/auth/account',
  confirm: '/auth/account/confirm',
  confirmByPasskey: '/auth/account/confirm/passkey',
  password: '/auth/account/password',
  passkeys: '/auth/account/passkeys',
  passkeyRemove: '/auth/account/passkeys/remove',
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

/** On the hosts of sites that people sign in for. */
export const sitePaths = {
  signIn: '/cdn-cgi/sign-in',
  signedIn: '/cdn-cgi/signed-in',
  signOut: '/cdn-cgi/sign-out',
} as const

export function isOfSites(path: string): boolean {
  return Object.values(sitePaths).some(own => own === path)
}

export function dashboardOf(account: string): string {
  return `${paths.dashboard}/${encodeURIComponent(account)}`
}

export function ownTokensOf(account: string): string {
  return `${dashboardOf(account)}/your-tokens`
}

const consent = '/oauth2/consent/'

export function consentPath(uid: string): string {
  return consent + uid
}

export function isOfSignIn(path: string): boolean {
  return path === '/auth' || path.startsWith('/auth/') || consentIn(path) !== null
}

export function consentIn(path: string): string | null {
  const uid = path.startsWith(consent) ? path.slice(consent.length) : ''
  return /^[\w-]{1,64}$/.test(uid) ? uid : null
}

export function leadingOn(path: string, next: string, more: Readonly<Record<string, string>> = {}): string {
  return `${path}?${new URLSearchParams({ next, ...more })}`
}

export function setUpPath(link: string): string {
  return `${paths.setUp}?token=${encodeURIComponent(link)}`
}

export function invitationPath(link: string): string {
  return `${paths.invitation}?token=${encodeURIComponent(link)}`
}

export function invitationIn(path: string): string | null {
  const start = `${paths.invitation}?`
  return path.startsWith(start) ? new URLSearchParams(path.slice(start.length)).get('token') : null
}
