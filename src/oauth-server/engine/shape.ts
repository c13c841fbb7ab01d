// The rules of ours that no setting of the engine changes: they go in place of its own.

import { mintToken } from '../../tokens/token.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { Registered } from './adapter.ts'
import { redirectMatches } from './redirect.ts'
import { factsOf } from './request-facts.ts'
import type { Provider } from './engine-types.ts'
import type { Decisions } from './decisions.ts'

const second = 1000

/** Puts them into a provider. */
export function shape(provider: Provider, decisions: Decisions, tags: TokenTags): void {
  const { Client, Session, AccessToken, RefreshToken, Grant } = provider
  Object.assign(Client.prototype, {
    redirectUriAllowed(this: { registered: Registered }, uri: unknown): boolean {
      return typeof uri === 'string' && redirectMatches(uri, this.registered.redirectUris)
    },
    compareClientSecret(value: string): Promise<boolean> {
      return decisions.guarded(() => decisions.compareSecret(value))
    },
  })
  Object.assign(AccessToken.prototype, {
    generateTokenId(this: { format: string }): string {
      this.format = 'opaque'
      return tags.mintAtOnce('svco_').value
    },
  })
  Object.assign(RefreshToken.prototype, { generateTokenId: () => mintToken('svcr_').value })
  // Which resources a consent covers was looked at when the code was asked for.
  Object.assign(Grant.prototype, {
    getResourceScope(this: GrantFields): string {
      return this.openid?.scope ?? ''
    },
  })
  // Who is signed in is known already; the engine keeps no session of its own, and no interaction makes one.
  Object.assign(Session.prototype, { loginAccount: () => {} })
  Session.get = async context => {
    const { person } = factsOf(context.req)
    const session = new Session({ jti: 'mirrored', uid: 'mirrored' })
    if (person !== null) {
      const { user, signedInAt } = person
      // The engine takes one that it does not know for older than any `max_age`.
      const at = signedInAt !== null && { loginTs: Math.floor(signedInAt / second) }
      Object.assign(session, { accountId: user, ...at })
    }
    session.destroyed = true
    return session
  }
}

interface GrantFields {
  readonly openid?: { readonly scope?: string }
}
