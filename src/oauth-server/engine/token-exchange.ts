// The exchange of a code or refresh token for tokens, in one step of the store.

import type { Credential } from '../../store/records/credential.ts'
import type { Store } from '../../store/contract/store.ts'
import { endOf, familyOf, graceOf, replayReason, successionOf } from '../../oauth/grants/token-family.ts'

/** The library believes that it consumes `presented` and saves each of `issued`; only `commit` writes. */
export class TokenExchange {
  /** The code or token in the request, as stored; null until the library has found it. */
  presented: Credential | null = null
  /** Tokens that exist once the exchange is committed; empty at every endpoint but the token endpoint. */
  readonly issued: Credential[] = []

  /** Consumes and stores all or nothing; returns a refusal, and rejects with `StoreUnreachable`. */
  async commit({ credentials }: Pick<Store, 'credentials'>): Promise<string | null> {
    const { presented, issued } = this
    if (presented === null) return 'nothing was presented'
    const { kind, digest } = presented
    const at = Date.now()
    const succession = successionOf(presented, issued, at)
    const { outcome, consumedAt } = await credentials.exchange({
      ...{ kind, digest, at, grace: graceOf(kind) },
      issued: succession === null ? issued : [...issued, succession],
      end: endOf(familyOf(presented)!, presented, at),
    })
    if (outcome === 'issued') return null
    return outcome === 'replayed' ? replayReason(kind, consumedAt, at) : 'the access was ended meanwhile'
  }
}
