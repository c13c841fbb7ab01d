// The scopes that an authorization request may ask for.

import { memoizeEach } from '../../base/memo.ts'
import { type OAuthScope, withIncluded } from '../../permissions/scopes.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

const idsOf = memoizeEach((scopes: readonly OAuthScope[]) => new Set(scopes.map(({ id }) => id)))

/** Returns distinct scopes; without any, the usual ones of the client. */
export function scopesOf(text: string | undefined, usual: readonly string[]): readonly string[] {
  const named = (text ?? '').split(' ').filter(scope => scope !== '')
  return named.length === 0 ? usual : [...new Set(named)]
}

/**
 * Returns the scopes of a request that names none (RFC 6749 section 3.3): those that are registered. A
 * document that names none lets its client ask for all, but not for all at once.
 */
export function usualScopesOf({ scopes, document }: OAuthClient): readonly string[] {
  return document?.scope === null ? [] : scopes
}

export function faultOfScopes(
  scopes: readonly string[],
  registered: readonly string[],
  all: readonly OAuthScope[],
): string | null {
  if (scopes.length === 0) return 'scope is missing, and the document of the client names none either'
  const existing = idsOf(all)
  const unknown = scopes.filter(scope => !existing.has(scope))
  const allowed = withIncluded(registered)
  const unregistered = scopes.filter(scope => existing.has(scope) && !allowed.includes(scope))
  const parts = [
    ...(unknown.length === 0 ? [] : [`unknown: ${listOf(unknown)}`]),
    ...(unregistered.length === 0 ? [] : [`not registered for this client: ${listOf(unregistered)}`]),
  ]
  return parts.length === 0 ? null : `scope ${parts.join('; ')}`
}

const maxListed = 10

function listOf(scopes: readonly string[]): string {
  const listed = scopes.slice(0, maxListed).map(scope => visible(scope).slice(0, 60))
  const left = scopes.length - listed.length
  return listed.join(' ') + (left > 0 ? ` and ${left} more` : '')
}

/** Replaces what `error_description` must not contain (RFC 6749 section 4.1.2.1). */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
