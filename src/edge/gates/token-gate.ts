// A gate for tokens of this gateway. They come from the cache of all processes, which forgets a token within
// a second of its end; each is judged once while it is there.

import type { TokenGateConfig } from '../../config/model/protect-config.ts'
import { permits } from '../../permissions/permit.ts'
import { bearerChallenge } from '../../protect/challenge.ts'
import type { Claims } from '../../protect/claims.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { Token } from '../../store/records/records.ts'
import type { LastToken, TokenFault, TokenVerifier } from '../../tokens/verify.ts'
import { ClaimFields } from './claim-fields.ts'
import type { Admission, GateFault } from './gate.ts'

/** Who sends a token. */
interface Bearer {
  readonly tokens: Pick<TokenVerifier, 'verify' | 'isCurrent'>
  readonly address: string
  readonly last: LastToken
}

export class TokenGate {
  readonly kind = 'token'
  readonly config: TokenGateConfig
  readonly #fields: ClaimFields
  /** A token that changes is another object. */
  readonly #verdicts = new WeakMap<Token, Admission | GateFault>()

  constructor(config: TokenGateConfig) {
    this.config = config
    this.#fields = new ClaimFields(config.fields)
  }

  /** Waits for a token that is not in the cache; never rejects. */
  check(value: string | null, { tokens, address, last }: Bearer): MaybeAtOnce<Admission | GateFault> {
    if (value === null) return missing
    const token = tokens.verify(value, address, 'route', last)
    return token instanceof Promise
      ? token.then(token => this.#judge(token, tokens))
      : this.#judge(token, tokens)
  }

  #judge(token: Token | TokenFault, tokens: Bearer['tokens']): Admission | GateFault {
    if (token === 'store_unreachable') return unreachable
    if (typeof token === 'string') return invalid(token)
    let verdict = this.#verdicts.get(token)
    if (verdict === undefined) this.#verdicts.set(token, (verdict = this.#decide(token, tokens)))
    return verdict
  }

  #decide(token: Token, tokens: Bearer['tokens']): Admission | GateFault {
    const { permission, account } = this.config
    // One that is for certain gateways or models must not open what is neither.
    const isLimited = token.gateways !== undefined || token.models !== undefined
    if (isLimited || !permits(token, permission, account)) return insufficient
    const claims: Claims = { sub: token.id, name: token.name }
    const changes = this.#fields.changesFor(claims)
    // Those of other issuers have a hash sign.
    return { subject: `token:${token.id}`, claims, changes, isCurrent: () => tokens.isCurrent(token) }
  }
}

const missing: GateFault = {
  kind: 'missing',
  cause: { code: 'GH_TOKEN_MISSING' },
  wait: 0,
  challenge: bearerChallenge(null),
}

const insufficient: GateFault = {
  kind: 'insufficient',
  cause: { code: 'GH_TOKEN_INSUFFICIENT' },
  wait: 0,
  challenge: bearerChallenge('insufficient_scope'),
}

/** Seconds, in which a store mostly comes back. */
const wait = 5

const unreachable: GateFault = {
  kind: 'unavailable',
  cause: { code: 'GH_TOKEN_STORE_UNREACHABLE' },
  wait,
  challenge: null,
}

function invalid(fault: Exclude<TokenFault, 'store_unreachable'>): GateFault {
  const cause = { code: `GH_TOKEN_${fault.toUpperCase()}` }
  return { kind: 'invalid', cause, wait: 0, challenge: bearerChallenge('invalid_token') }
}
