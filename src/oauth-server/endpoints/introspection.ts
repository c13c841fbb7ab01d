// Introspection by an API token (RFC 7662). Clients, limited to their own tokens, use the library.

import { clientIdOf } from '../../oauth/clients/document-url.ts'
import { permits } from '../../permissions/permit.ts'
import { withIncluded } from '../../permissions/scopes.ts'
import type { Credential } from '../../store/records/credential.ts'
import type { Token } from '../../store/records/records.ts'
import { everybody } from '../../store/records/people.ts'
import { type Store, StoreUnreachable } from '../../store/contract/store.ts'
import { endDigestOf, familyOf } from '../../oauth/grants/token-family.ts'
import { digestOf, isWellFormed } from '../../tokens/token.ts'
import type { Call, EndpointParts } from './endpoint.ts'
import { readForm, tooLarge } from '../http/forms.ts'
import { sendError, sendJson } from '../http/responses.ts'
import { ineligibilityOf } from '../../oauth/grants/eligibility.ts'

export async function introspectByToken(
  apiToken: string,
  { request, response, sender }: Call,
  parts: EndpointParts,
): Promise<void> {
  const issuer = parts.issuer()
  const caller = await parts.verify(apiToken, sender.address)
  if (caller === 'store_unreachable') throw new StoreUnreachable()
  if (typeof caller === 'string') {
    response.setHeader('www-authenticate', 'Bearer error="invalid_token"')
    const description = 'the API token is not valid'
    return sendError(response, issuer, { status: 401, error: 'invalid_token', description })
  }
  const error = 'invalid_request'
  const form = await readForm(request)
  if (form === null) return sendError(response, issuer, { status: 413, error, description: tooLarge })
  const [value, ...others] = form.getAll('token')
  if (value === undefined || others.length > 0)
    return sendError(response, issuer, { status: 400, error, description: 'token must be sent once' })
  sendJson(response, 200, await introspect(value, caller, parts))
}

const inactive = { active: false } as const

/** Describes a token to a caller who may read the OAuth clients of the account that owns its client. */
async function introspect(
  value: string,
  caller: Token,
  { store, clients, issuer, routes }: EndpointParts,
): Promise<object> {
  const credential = await find(value, store)
  if (credential === null || credential.client === null || credential.user === null) return inactive
  const client = await clients.find(credential.client)
  if (client === null || !permits(caller, 'OAuth Clients Read', client.account)) return inactive
  const { account, scope, aud, resource } = credential.data as {
    readonly account: string
    readonly scope?: string
    readonly aud?: string | readonly string[]
    readonly resource?: string | readonly string[]
  }
  const audience = aud ?? resource ?? []
  const family = familyOf(credential)
  if (credential.grant === null || family === null) return inactive
  const [grant, hasEnded] = await Promise.all([
    store.oauthGrants.get(account, credential.grant),
    store.credentials.hasEnded(endDigestOf(family)),
  ])
  if (grant === null || hasEnded) return inactive
  if ((await ineligibilityOf(store, { client, user: credential.user, account })) !== null) return inactive
  const isKnown = (one: string) => routes.scopes.some(({ id }) => id === one)
  const scopes = (scope ?? '')
    .split(' ')
    .filter(
      one => isKnown(one) && [grant.record, client].every(({ scopes }) => withIncluded(scopes).includes(one)),
    )
  return {
    active: true,
    iss: issuer(),
    client_id: clientIdOf(client),
    sub: credential.user,
    scope: scopes.join(' '),
    ...(account !== everybody && { account }),
    ...(audience.length > 0 && { aud: audience }),
    ...(credential.kind === 'access_token' && { token_type: 'Bearer' }),
    iat: Math.floor(credential.createdAt / 1000),
    exp: Math.floor(credential.expiresAt / 1000),
  }
}

async function find(value: string, { credentials }: Store): Promise<Credential | null> {
  if (isWellFormed(value, 'svco_')) return credentials.get('access_token', digestOf(value))
  if (!isWellFormed(value, 'svcr_')) return null
  const token = await credentials.get('refresh_token', digestOf(value))
  return token?.consumedAt === null ? token : null
}
