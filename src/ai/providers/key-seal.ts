// Seals keys of providers that gateways have of their own: one opens only where it was made for.

import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Gateway, ProviderKey } from '../../store/records/records.ts'

/** `url` is that of a provider of the account, so that no other address gets the key; '' for others. */
interface Place {
  readonly gateway: Pick<Gateway, 'account' | 'id'>
  readonly key: Pick<ProviderKey, 'id' | 'provider'>
  readonly url: string
}

export function sealKey(secrets: SecretKeys, value: string, place: Place): string {
  return secrets.seal(value, contextOf(place))
}

/** Null if it was sealed for another place, or with a key of secrets that is unknown here. */
export function unsealKey(secrets: SecretKeys, sealed: string, place: Place): string | null {
  return secrets.unseal(sealed, contextOf(place))
}

function contextOf({ gateway, key, url }: Place): string {
  return JSON.stringify(['provider key', gateway.account, gateway.id, key.id, key.provider, url])
}
