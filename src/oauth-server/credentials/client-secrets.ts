// How clients authenticate. Wrong secrets are counted, and never keep out a right one.

import type { Limiter } from '../../limits/limiter.ts'
import { limitOf } from '../../limits/limit.ts'
import { secretThatMatches } from '../../oauth/clients/secret.ts'
import type { SecretUses } from '../../oauth/clients/secret-uses.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'

/** Wrong secrets per client, counted together by all who share the store. */
const wrongSecrets = limitOf('wrong client secrets', 60, { kind: 'sliding', period: 60_000 })

/** `wrong` has a reason, `throttled` the seconds to wait after too many wrong ones. */
type SecretVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong'; readonly reason: string }
  | { readonly kind: 'throttled'; readonly wait: number }

export class ClientSecrets {
  readonly #keys: SecretKeys
  readonly #uses: SecretUses
  readonly #limiter: Limiter
  readonly #clock: Clock

  constructor(keys: SecretKeys, uses: SecretUses, limiter: Limiter, clock: Clock = systemClock) {
    this.#clock = clock
    this.#keys = keys
    this.#uses = uses
    this.#limiter = limiter
  }

  async judge(client: OAuthClient, value: string): Promise<SecretVerdict> {
    const secret = secretThatMatches(client, value, this.#keys)
    if (secret !== null) {
      this.#uses.note(client, secret)
      return { kind: 'right' }
    }
    const { isAllowed, wait } = await this.#limiter.spend(wrongSecrets, client.id)
    if (!isAllowed) return { kind: 'throttled', wait: Math.max(1, Math.ceil(wait / 1000)) }
    return { kind: 'wrong', reason: this.#reasonOf(client, value) }
  }

  #reasonOf({ secrets, deletedSecret }: OAuthClient, value: string): string {
    if (deletedSecret !== undefined && this.#keys.matches(deletedSecret, value))
      return `the secret is the one that was deleted ${formatAge(this.#clock.now() - deletedSecret.deletedAt)} ago`
    const tails = secrets.map(({ tail }) => `one that ends in ${tail}`)
    return `the secret is not that of the client, which has ${tails.join(' and ')}`
  }
}

function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000))
  if (minutes < 120) return `${minutes} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} d`
}
