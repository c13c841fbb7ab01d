// What an authorization request may ask for, beyond what the engine looks at.

import { oauthScopes } from '../../permissions/scopes.ts'

/** What is wrong with a request: the error of OAuth, and a sentence. */
interface Fault {
  readonly error: 'invalid_scope' | 'invalid_target' | 'unsupported_response_mode'
  readonly description: string
}

const known: ReadonlySet<string> = new Set(oauthScopes.map(({ id }) => id))

/** Reads the `scope` of a request: each once, or those that the client has registered where there is none (RFC 6749 section 3.3). */
export function scopesOf(text: string | undefined, registered: readonly string[]): readonly string[] {
  const named = (text ?? '').split(' ').filter(scope => scope !== '')
  return named.length === 0 ? registered : [...new Set(named)]
}

/** Finds scopes that do not exist, or that the client has not registered. */
export function faultOfScopes(scopes: readonly string[], registered: readonly string[]): Fault | null {
  const unknown = scopes.filter(scope => !known.has(scope))
  const unregistered = scopes.filter(scope => known.has(scope) && !registered.includes(scope))
  const parts = [
    ...(unknown.length === 0 ? [] : [`unknown: ${listed(unknown)}`]),
    ...(unregistered.length === 0 ? [] : [`not registered for this client: ${listed(unregistered)}`]),
  ]
  return parts.length === 0 ? null : { error: 'invalid_scope', description: `scope ${parts.join('; ')}` }
}

const mostListed = 10

function listed(scopes: readonly string[]): string {
  const shown = scopes.slice(0, mostListed).map(scope => visible(scope).slice(0, 60))
  const left = scopes.length - shown.length
  return shown.join(' ') + (left > 0 ? ` and ${left} more` : '')
}

/** Replaces what `error_description` must not contain (RFC 6749 section 4.1.2.1). */
export function visible(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?')
}
