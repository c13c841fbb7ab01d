// The library's models, as far as they must be different here.

import { second } from '../../base/units.ts'
import { mintToken } from '../../tokens/token.ts'
import type { TokenTags } from '../../tokens/token-tags.ts'
import type { Guard } from '../http/unavailable.ts'
import { recordOf } from './client-metadata.ts'
import type { Decisions } from './decisions.ts'
import type { Context, Library, LibraryClient, Payload, Provider } from './library.ts'
import { redirectMatches } from '../../oauth/clients/redirect-uri.ts'
import { currentRequest } from './request.ts'

/**
 * Extended models: no setting chooses the form of tokens or other login sessions. The library knows a model
 * by its class name, which is set here, since the build drops unused names.
 */
export function providerClass({ Provider }: Library, tags: TokenTags): Library['Provider'] {
  return class extends Provider {
    override readonly AccessToken = accessTokenClass(super.AccessToken, tags)
    override readonly RefreshToken = refreshTokenClass(super.RefreshToken)
    override readonly IdToken = idTokenClass(super.IdToken)
    override readonly Session = sessionClass(super.Session)
  }
}

function accessTokenClass(Base: Provider['AccessToken'], tags: TokenTags): Provider['AccessToken'] {
  return class AccessToken extends Base {
    static override readonly name = 'AccessToken'

    override generateTokenId(): string {
      this.format = 'opaque'
      return tags.mintAtOnce('svco_').value
    }
  }
}

function refreshTokenClass(Base: Provider['RefreshToken']): Provider['RefreshToken'] {
  return class RefreshToken extends Base {
    static override readonly name = 'RefreshToken'

    override generateTokenId(): string {
      return mintToken('svcr_').value
    }
  }
}

/** The library adds `at_hash` (Core section 3.1.3.6) only to ID tokens of the authorization endpoint. */
function idTokenClass(Base: Provider['IdToken']): Provider['IdToken'] {
  return class IdToken extends Base {
    static override readonly name = 'IdToken'

    override issue(options: { readonly use: string }): Promise<string> {
      const { AccessToken } = this.ctx?.oidc.entities ?? {}
      if (AccessToken !== undefined) this.set('at_hash', (AccessToken as Payload).jti)
      return super.issue(options)
    }
  }
}

/** Sessions are ours: the library is told who is signed in, and no interaction changes that. */
function sessionClass(Base: Provider['Session']): Provider['Session'] {
  return class Session extends Base {
    static override readonly name = 'Session'

    static override async get(_: Context): Promise<Session> {
      const { person } = currentRequest()
      const session = new Session({ jti: 'mirrored', uid: 'mirrored' })
      if (person !== null) {
        const { user, signedInAt } = person
        // Without a time, the library takes a login to be older than any `max_age`.
        const at = signedInAt !== null && { loginTs: Math.floor(signedInAt / second) }
        Object.assign(session, { accountId: user, ...at })
      }
      session.destroyed = true
      return session
    }

    override loginAccount(): void {}
  }
}

/** Redirect URIs and secrets are compared by our rules, in these two methods. */
export function setClientRules({ Client }: Provider, decisions: Decisions, guard: Guard): void {
  Object.assign(Client.prototype, {
    redirectUriAllowed(this: LibraryClient, uri: unknown): boolean {
      return typeof uri === 'string' && redirectMatches(uri, recordOf(this).redirectUris)
    },
    compareClientSecret(this: LibraryClient, value: string): Promise<boolean> {
      return guard(() => decisions.compareSecret(recordOf(this), value))
    },
  })
}
