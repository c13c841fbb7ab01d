// A gate for the tokens of one issuer. A token is verified once, and then known by its hash until it expires
// or the keys of the issuer change.

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../base/clock.ts'
import { MiB } from '../../base/units.ts'
import type { JwtGateConfig } from '../../config/model/protect-config.ts'
import type { ClaimFacts } from '../../expression/claim-facts.ts'
import type { Expression } from '../../expression/expression.ts'
import { bearerChallenge } from '../../protect/challenge.ts'
import { subjectOf } from '../../protect/identity.ts'
import { type FindKey, type JwtFault, mayBeFrom, type VerifiedJwt, verifyJwt } from '../../protect/jwt.ts'
import { ClaimFields } from './claim-fields.ts'
import { compileCondition } from './condition.ts'
import type { Admission, GateFault } from './gate.ts'
import type { KeySet } from './key-set.ts'

/** Bytes that a process keeps of the tokens of one gate, and those of an entry beside its token. */
const maxSize = 16 * MiB
const overhead = 1024

interface JwtGateParts {
  readonly keySet: KeySet
  readonly clock: Clock
}

export class JwtGate {
  readonly kind = 'jwt'
  readonly config: JwtGateConfig
  readonly #keySet: KeySet
  readonly #clock: Clock
  readonly #condition: Expression<boolean, ClaimFacts> | null
  readonly #fields: ClaimFields
  /** By the hash of their tokens, which are verified with `#keys`. */
  readonly #admissions = new LRUCache<string, JwtAdmission>({ maxSize, sizeCalculation: ({ size }) => size })
  #keys: FindKey | null = null
  readonly #verifying = new Map<string, Promise<Admission | GateFault>>()

  /** Throws if the condition does not compile. `names` are the fields that no client of the route may set. */
  constructor(config: JwtGateConfig, names: readonly string[], { keySet, clock }: JwtGateParts) {
    this.config = config
    this.#keySet = keySet
    this.#clock = clock
    this.#condition = config.condition === null ? null : compileCondition(config.condition)
    this.#fields = new ClaimFields(config.fields, names, config.forwardToken)
  }

  /** Waits for a token that is not known yet; never rejects. */
  check(token: string | null): Admission | GateFault | Promise<Admission | GateFault> {
    if (token === null) return missing
    const keys = this.#keySet.latest()
    if (keys !== null && keys === this.#keys) {
      const admission = this.#admissions.get(digestOf(token))
      if (admission?.isCurrent()) return admission
    }
    // A token of a stranger is at fault itself, whether the keys can be had or not.
    if (!mayBeFrom(this.config.issuer, token)) return invalid('other_issuer')
    return keys === null ? this.#unavailable() : this.#verifyOnce(token, keys)
  }

  /** Many requests may begin with the same token at once. */
  #verifyOnce(token: string, keys: FindKey | Promise<FindKey | null>): Promise<Admission | GateFault> {
    const digest = digestOf(token)
    const underWay = this.#verifying.get(digest)
    if (underWay !== undefined) return underWay
    const verdict = this.#verify(token, digest, keys).finally(() => this.#verifying.delete(digest))
    this.#verifying.set(digest, verdict)
    return verdict
  }

  async #verify(
    token: string,
    digest: string,
    present: FindKey | Promise<FindKey | null>,
  ): Promise<Admission | GateFault> {
    let keys = await present
    if (keys === null) return this.#unavailable()
    let verdict = await verifyJwt(token, keys, this.config, this.#clock.now())
    if (verdict === 'unknown_key') {
      const newer = await this.#keySet.renewed(keys)
      if (newer !== null && newer !== keys) {
        keys = newer
        verdict = await verifyJwt(token, keys, this.config, this.#clock.now())
      }
    }
    if (typeof verdict === 'string') return invalid(verdict)
    if (this.#condition !== null && this.#condition.evaluate(verdict) !== true) return insufficient
    return this.#keep(digest, this.#admit(verdict, keys, overhead + 3 * token.length))
  }

  #keep(digest: string, admission: JwtAdmission): JwtAdmission {
    if (admission.keys !== this.#keySet.latest()) return admission
    if (admission.keys !== this.#keys) this.#admissions.clear()
    this.#keys = admission.keys
    this.#admissions.set(digest, admission)
    return admission
  }

  #admit({ claims, until }: VerifiedJwt, keys: FindKey, size: number): JwtAdmission {
    const isCurrent = () => this.#clock.now() < until && this.#keySet.latest() === keys
    const changes = this.#fields.changesFor(claims)
    return { subject: subjectOf(this.config.issuer, claims), claims, changes, keys, size, isCurrent }
  }

  #unavailable(): GateFault {
    return { kind: 'unavailable', cause: keySetMissing, wait: this.#keySet.wait, challenge: null }
  }
}

interface JwtAdmission extends Admission {
  readonly keys: FindKey
  readonly size: number
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64')
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

const keySetMissing = { code: 'GH_KEY_SET_MISSING' }

function invalid(fault: JwtFault): GateFault {
  const cause = { code: `GH_TOKEN_${fault.toUpperCase()}` }
  return { kind: 'invalid', cause, wait: 0, challenge: bearerChallenge('invalid_token') }
}
