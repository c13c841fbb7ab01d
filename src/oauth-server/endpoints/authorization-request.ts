// Prepares and checks authorization requests for the library.

import { digestOf } from '../../tokens/token.ts'
import type { Json } from '../../store/records/credential.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Call, EndpointParts } from './endpoint.ts'
import type { InteractionResult } from '../engine/library.ts'
import type { OAuthRequest, Person } from '../engine/request.ts'
import { usualScopesOf } from '../engine/scopes.ts'
import { readForm } from '../http/forms.ts'
import { paths } from '../http/paths.ts'
import { sendError } from '../http/responses.ts'

/** The longest form that becomes a link, in bytes: it is sent in one line of a head. */
const maxLink = 6 * 1024

/** A form from another site has no cookies, so only a link shows who is signed in. */
export async function redirectForm({ request, response }: Call, { issuer }: EndpointParts): Promise<void> {
  const form = String((await readForm(request)) ?? '')
  if (form === '' || form.length > maxLink) {
    const description = `the body must have 1 to ${maxLink} bytes`
    return sendError(response, issuer(), { status: 413, error: 'invalid_request', description })
  }
  response.writeHead(303, { location: `${paths.authorization}?${form}` }).end()
}

/** Means nothing in a request without `openid` (RFC 6749 section 3.1). */
const openIdOnly = ['nonce', 'acr_values', 'claims_locales'] as const

export function refusedModeIn(query: string): string | null {
  return new URLSearchParams(query).getAll('response_mode').find(mode => mode !== 'query') ?? null
}

/** Drops `response_mode`, so that errors go one way, and adds the scopes that are missing, if they exist. */
export async function libraryQueryOf(
  query: string,
  request: OAuthRequest,
  { clients, routes }: Pick<EndpointParts, 'clients' | 'routes'>,
): Promise<string> {
  const params = new URLSearchParams(query)
  params.delete('response_mode')
  const client = params.get('scope') ? null : await request.findClient(params.get('client_id') ?? '', clients)
  if (client !== null && 'id' in client)
    params.set(
      'scope',
      usualScopesOf(client)
        .filter(id => routes.scopes.some(scope => scope.id === id))
        .join(' '),
    )
  const scopes = params.get('scope')?.split(' ') ?? []
  if (!scopes.includes('openid')) for (const name of openIdOnly) params.delete(name)
  return `?${params}`
}

/** Removes from an interaction the sign-in of somebody who is not, or no longer, the one signed in. */
export async function forgetOtherSignIn(
  uid: string,
  person: Person | null,
  { credentials }: Store,
): Promise<void> {
  const interaction = await credentials.get('interaction', digestOf(uid))
  if (interaction === null) return
  const { result, ...data } = interaction.data as { readonly [name: string]: Json }
  const user = (result as InteractionResult | undefined)?.login?.accountId
  if (user === undefined || user === person?.user) return
  await credentials.put({ ...interaction, data }, 'present')
}
