// A gate for people who have signed in at our pages. What is decided about a session holds until it changes.

import type { SignInGateConfig } from '../../config/model/protect-config.ts'
import type { ClaimFacts } from '../../expression/claim-facts.ts'
import type { Expression } from '../../expression/expression.ts'
import type { KnownSiteSessions } from '../../people/sessions/known-site-sessions.ts'
import { isTaggedValue } from '../../people/records/secret-value.ts'
import type { SiteSession } from '../../people/sessions/site-sessions.ts'
import { roleNamesOf } from '../../permissions/roles.ts'
import type { Claims } from '../../protect/claims.ts'
import { type MaybeAtOnce, StoreUnreachable } from '../../store/contract/store.ts'
import { isEmailVerified } from '../../store/records/people.ts'
import { ClaimFields } from './claim-fields.ts'
import { compileCondition } from './condition.ts'
import { type Admission, faultIn, type GateFault, type Watch } from './gate.ts'

type Outcome = Admission | GateFault

export class SignInGate {
  readonly kind = 'sign_in'
  readonly config: SignInGateConfig
  readonly #sessions: KnownSiteSessions | null
  readonly #condition: Expression<boolean, ClaimFacts> | null
  readonly #fields: ClaimFields
  readonly #outcomes = new WeakMap<SiteSession, Outcome>()

  /**
   * Throws if the condition does not compile. `names` are the fields that no client of the route may set.
   * Without sessions, nobody can be let in.
   */
  constructor(config: SignInGateConfig, names: readonly string[], sessions: KnownSiteSessions | null) {
    this.config = config
    this.#sessions = sessions
    this.#condition = config.condition === null ? null : compileCondition(config.condition)
    this.#fields = new ClaimFields(config.fields, names, true)
  }

  /** `value` is that of the cookie; waits for a session that is not known yet, and never rejects. */
  check(value: string | null, host: string): MaybeAtOnce<Outcome> {
    if (value === null || !isTaggedValue(value)) return missing
    if (this.#sessions === null) return unavailable
    const found = this.#sessions.find(value)
    return found instanceof Promise
      ? found.then(session => this.#judge(session, host)).catch(unreachable)
      : this.#judge(found, host)
  }

  #judge(session: SiteSession | null, host: string): Outcome {
    // A browser sends the cookie of a host to that host alone; others may copy it.
    if (session === null || session.host !== host) return ended
    let outcome = this.#outcomes.get(session)
    if (outcome === undefined) this.#outcomes.set(session, (outcome = this.#decide(session)))
    return outcome
  }

  #decide(session: SiteSession): Outcome {
    const claims = claimsOf(session, this.config.accounts)
    if (!this.#isWithinBounds(session, claims)) return insufficient
    const changes = this.#fields.changesFor(claims)
    const subject = `user:${session.user.id}`
    const isCurrent = () => this.#sessions!.isCurrent(session)
    const watch = this.config.endsOpen ? { watch: this.#watch(session) } : {}
    return { subject, claims, changes, isCurrent, ...watch }
  }

  #watch({ digest, host }: SiteSession): Watch {
    const check: Watch['check'] = (_, gates) => {
      const faultOf = (session: SiteSession | null) => {
        const own = gates.includes(this) ? [this] : gates.filter(gate => gate instanceof SignInGate)
        return faultIn(own.map(gate => gate.#judge(session, host)))
      }
      const found = this.#sessions!.review(digest)
      return found instanceof Promise ? found.then(faultOf).catch(unreachable) : faultOf(found)
    }
    return { kind: this.kind, check }
  }

  #isWithinBounds({ user, memberships }: SiteSession, claims: Claims): boolean {
    const { accounts, roles, domains } = this.config
    const own = memberships.filter(({ account }) => accounts.includes(account))
    if (accounts.length > 0 && own.length === 0) return false
    const names = roleNamesOf(own.flatMap(({ roles }) => roles))
    if (roles.length > 0 && !roles.some(role => names.includes(role))) return false
    const domain = user.email.slice(user.email.lastIndexOf('@') + 1)
    if (domains.length > 0 && !(isEmailVerified(user) && domains.includes(domain))) return false
    return this.#condition === null || this.#condition.evaluate({ claims }) === true
  }
}

/** Those of OpenID Connect, and the accounts and roles that count here: of `accounts`, or of all if empty. */
function claimsOf({ user, memberships, parent }: SiteSession, accounts: readonly string[]): Claims {
  const { id, email, firstName, lastName } = user
  const own = memberships.filter(({ account }) => accounts.length === 0 || accounts.includes(account))
  const names = [firstName, lastName].filter(name => name !== null)
  return {
    ...{ sub: id, email, email_verified: isEmailVerified(user) },
    ...(names.length > 0 && { name: names.join(' ') }),
    accounts: own.map(({ account }) => account),
    roles: roleNamesOf(own.flatMap(({ roles }) => roles)),
    second_factor: parent.secondFactor,
  }
}

function unreachable(error: unknown): GateFault {
  if (error instanceof StoreUnreachable) return unavailable
  throw error
}

const wording = {
  heading: 'Sign in first',
  detail:
    'The operator of the site admits only people who have signed in, and this request came without a session, or with one that has ended. It was not forwarded.',
  guidance:
    '**Sign in, then send it again.** In a browser, open the site in another tab and sign in there; then come back here and reload this page, which sends what you entered. A program needs another way in: request one from the operator of the site.',
}

const missing: GateFault = {
  ...{ kind: 'missing', cause: { code: 'GH_SESSION_MISSING' }, wait: 0, challenge: null },
  ...{ wording, leadsToSignIn: true },
}

const ended: GateFault = { ...missing, kind: 'invalid', cause: { code: 'GH_SESSION_ENDED' } }

const insufficient: GateFault = {
  ...{ kind: 'insufficient', cause: { code: 'GH_SESSION_INSUFFICIENT' }, wait: 0, challenge: null },
  wording: {
    heading: 'You may not open this',
    detail:
      'You have signed in, but the operator of the site admits only some people here, and you are not one of them.',
    guidance:
      '**Do not retry.** If you have another account, sign out at /cdn-cgi/sign-out and sign in with that one. Otherwise request access from the operator of the site.',
  },
}

const unavailable: GateFault = {
  ...{ kind: 'unavailable', cause: { code: 'GH_SESSION_UNCHECKED' }, wait: 5, challenge: null },
}
