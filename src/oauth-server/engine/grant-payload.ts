// A consent in the library's form. Its id also names the family of tokens: those of two codes end apart.

import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { OAuthGrant } from '../../store/records/oauth-grant.ts'
import { everybody } from '../../store/records/people.ts'
import { clientIdOf } from '../../oauth/clients/document-url.ts'
import { withIncluded } from '../../permissions/scopes.ts'
import type { Payload } from './library.ts'

interface GrantReference {
  readonly account: string
  readonly grant: string
  /** The family of what is issued for one code, which ends together. */
  readonly family: string
}

export function writeReference({ account, grant, family }: GrantReference): string {
  return `${account}.${grant}.${family}`
}

export function readReference(text: string | undefined): GrantReference | null {
  const [account = '', grant = '', family = '', ...rest] = (text ?? '').split('.')
  const isWhole = [grant, family].every(isId) && (isId(account) || account === everybody)
  return isWhole && rest.length === 0 ? { account, grant, family } : null
}

function isId(text: string): boolean {
  return /^[\da-f]{32}$/.test(text)
}

interface GrantParts {
  readonly reference: GrantReference
  readonly resources: readonly string[]
}

export function grantPayload(
  grant: OAuthGrant,
  client: OAuthClient,
  { reference, resources }: GrantParts,
): Payload {
  const registered = withIncluded(client.scopes)
  const scope = withIncluded(grant.scopes)
    .filter(scope => registered.includes(scope))
    .join(' ')
  const now = Math.floor(Date.now() / 1000)
  return {
    jti: writeReference(reference),
    kind: 'Grant',
    iat: now,
    exp: now + 3_600,
    accountId: grant.user,
    clientId: clientIdOf(client),
    openid: { scope },
    resources: Object.fromEntries(resources.map(resource => [resource, scope])),
  }
}
