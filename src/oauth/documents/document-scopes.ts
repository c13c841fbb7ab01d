// The scopes of a client that is known by its document.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthScope } from '../../permissions/scopes.ts'

const offline = 'offline_access'

/** Returns those that its document names, if they exist; all if it names none. Refreshing needs its grant. */
export function scopesOfClient(
  named: readonly string[] | null,
  { grantTypes }: Pick<OAuthClient, 'grantTypes'>,
  all: readonly OAuthScope[],
): readonly string[] {
  const mayRefresh = grantTypes.includes('refresh_token')
  const isMeant = (id: string) => (id === offline ? mayRefresh : named === null || named.includes(id))
  return all.map(({ id }) => id).filter(isMeant)
}
