// A gate for tokens of this gateway. They come from the cache of all processes, which forgets a token within
// a second of its end; each is judged once while it is there.

import { memoizeEach } from '../../base/memo.ts'
import type { TokenGateConfig } from '../../config/model/protect-config.ts'
import { challengeOf } from '../../oauth/grants/protected-resource.ts'
import { normalResource, resourceUrl } from '../../oauth/grants/route-resources.ts'
import { permits } from '../../permissions/permit.ts'
import { roleNamesOf } from '../../permissions/roles.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { Actor, Membership, Token } from '../../store/records/records.ts'
import type { LastToken, TokenFault, TokenVerifier } from '../../tokens/verify.ts'
import { ClaimFields } from './claim-fields.ts'
import { type Admission, faultIn, type GateFault, type Requester, type Watch } from './gate.ts'

/** What is decided of a token. */
interface Judged {
  /** The URL of a route that an access token is for; null for an API token. */
  readonly resource: URL | null
  /** Null if it does not permit enough. */
  readonly admission: Admission | null
}

/** Who sends a token, and to what. */
interface Bearer extends Requester {
  readonly tokens: Pick<TokenVerifier, 'verify' | 'isCurrent' | 'review'>
  /** Whether an authorization server issues access tokens. */
  readonly hasIssuer: boolean
}

export class TokenGate {
  readonly kind = 'token'
  readonly config: TokenGateConfig
  readonly #fields: ClaimFields
  /** A token that changes is another object. */
  readonly #judged = new WeakMap<Token, Judged>()

  /** `names` are the fields that no client of the route may set. */
  constructor(config: TokenGateConfig, names: readonly string[]) {
    this.config = config
    this.#fields = new ClaimFields(config.fields, names)
  }

  /** Waits for a token that is not in the cache; never rejects. */
  check(value: string | null, last: LastToken, bearer: Bearer): MaybeAtOnce<Admission | GateFault> {
    if (value === null) return this.#refuse('missing', 'missing', bearer)
    const { tokens, address } = bearer
    const token = tokens.verify(value, address, 'route', last)
    return token instanceof Promise
      ? token.then(token => this.#judge(token, bearer))
      : this.#judge(token, bearer)
  }

  #judge(token: Token | TokenFault, bearer: Bearer): Admission | GateFault {
    if (token === 'store_unreachable') return unreachable
    if (typeof token === 'string') return this.#refuse('invalid', token, bearer)
    const isApiToken = token.actor === undefined
    if (isApiToken === 'scopes' in this.config.accepts) return this.#refuse('invalid', 'other_kind', bearer)
    const resource = isApiToken ? null : bearer.resource()
    let judged = this.#judged.get(token)
    if (judged === undefined || judged.resource !== resource) {
      if (!isApiToken && !isFor(token.actor, resource))
        return this.#refuse('invalid', 'other_audience', bearer)
      judged = { resource, admission: judged ? judged.admission : this.#admit(token, bearer) }
      this.#judged.set(token, judged)
    }
    return judged.admission ?? this.#refuse('insufficient', 'insufficient', bearer)
  }

  /** Returns null for a token that does not permit enough. */
  #admit(token: Token, bearer: Bearer): Admission | null {
    if (!this.#isEnough(token)) return null
    const { subject, claims } = identityOf(token, this.config.accepts.account)
    const { tokens } = bearer
    return {
      subject,
      claims,
      changes: this.#fields.changesFor(claims),
      isCurrent: () => tokens.isCurrent(token),
      ...(this.config.endsOpen && { watch: this.#watch(token, bearer) }),
    }
  }

  #watch(token: Token, { tokens, hasIssuer }: Bearer): Watch {
    const check: Watch['check'] = (requester, gates) => {
      const bearer = { tokens, hasIssuer, ...requester }
      const faultOf = (verdict: Token | TokenFault) => {
        const own = gates.includes(this) ? [this] : gates.filter(gate => gate instanceof TokenGate)
        return faultIn(own.map(gate => gate.#judge(verdict, bearer)))
      }
      const verdict = tokens.review(token, requester.address, 'route')
      return verdict instanceof Promise ? verdict.then(faultOf) : faultOf(verdict)
    }
    return { kind: this.kind, check }
  }

  #isEnough(token: Token): boolean {
    const { accepts } = this.config
    if ('scopes' in accepts) return accepts.scopes.every(scope => token.actor!.scopes.includes(scope))
    // One that is for certain gateways or models must not open what is neither.
    const isLimited = token.gateways !== undefined || token.models !== undefined
    return !isLimited && permits(token, accepts.permission, accepts.account)
  }

  #refuse(kind: 'missing' | 'invalid' | 'insufficient', fault: string, bearer: Bearer): GateFault {
    const cause = { code: `GH_TOKEN_${fault.toUpperCase()}` }
    return { kind, cause, wait: 0, challenge: this.#challenge(errors[kind], bearer) }
  }

  /** Names what an access token must be for; an API token is not to be had that way. */
  #challenge(error: (typeof errors)[keyof typeof errors], { resource, hasIssuer }: Bearer): string {
    const { accepts } = this.config
    if (!('scopes' in accepts)) return challengeOf({ resource: null, scope: null, error })
    return challengeOf({ resource: hasIssuer ? resource() : null, scope: accepts.scopes.join(' '), error })
  }
}

const errors = { missing: null, invalid: 'invalid_token', insufficient: 'insufficient_scope' } as const

function isFor(actor: Actor, resource: URL | null): boolean {
  return resource !== null && audienceOf(actor).has(textOf(resource))
}

const textOf = memoizeEach((resource: URL) => resourceUrl(resource))

const audienceOf = memoizeEach(({ resources = [] }: Actor) => new Set(resources.map(normalResource)))

/** Subjects of other issuers have a hash sign, these have none. */
function identityOf({ id, name, actor }: Token, account: string | null) {
  if (actor === undefined) return { subject: `token:${id}`, claims: { sub: id, name, roles: [] } }
  const { user, client, clientUrl = client, scopes, email, isEmailVerified = false, memberships } = actor
  const claims = {
    sub: user,
    client_id: clientUrl,
    scope: scopes.join(' '),
    ...(isEmailVerified && { email }),
    // Without the claim, conditions about it fail, and so forbid.
    ...(account !== null && memberships !== undefined && { roles: rolesIn(account, memberships) }),
  }
  return { subject: `user:${user}`, claims }
}

function rolesIn(account: string, memberships: readonly Membership[]): readonly string[] {
  return roleNamesOf(memberships.flatMap(one => (one.account === account ? one.roles : [])))
}

/** Seconds, in which a store mostly comes back. */
const wait = 5

const unreachable: GateFault = {
  kind: 'unavailable',
  cause: { code: 'GH_TOKEN_STORE_UNREACHABLE' },
  wait,
  challenge: null,
}
