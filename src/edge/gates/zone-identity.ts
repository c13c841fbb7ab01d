// svc-identity for the origins of one zone. It is signed once a minute for each credential that gates let in.

import { createPrivateKey } from 'node:crypto'
import { type Clock, systemClock } from '../../base/clock.ts'
import { memoizeEach } from '../../base/memo.ts'
import type { IdentityConfig } from '../../config/model/protect-config.ts'
import { identityField } from '../../http1/fields/fields.ts'
import { identityRenewal, signIdentity, type Subject } from '../../protect/identity.ts'
import type { Jwk, SigningKeys } from '../../tokens/signing-keys.ts'
import type { Admission, GateFault } from './gate.ts'

interface Signed {
  readonly admission: Admission
  /** In ms since the epoch. */
  readonly at: number
}

interface ZoneIdentityParts {
  readonly keys: Pick<SigningKeys, 'current'>
  readonly clock?: Clock
}

export class ZoneIdentity {
  readonly #config: IdentityConfig
  readonly #keys: ZoneIdentityParts['keys']
  readonly #clock: Clock
  readonly #signed = new WeakMap<Admission, Signed | Promise<Admission | GateFault>>()

  constructor(config: IdentityConfig, { keys, clock = systemClock }: ZoneIdentityParts) {
    this.#config = config
    this.#keys = keys
    this.#clock = clock
  }

  /**
   * Adds svc-identity to what the origin gets of somebody whom a gate has just let in, if that knows who it
   * is. Never rejects: without a key, nobody is let in.
   */
  addTo(admission: Admission): Admission | GateFault | Promise<Admission | GateFault> {
    const signed = this.#signed.get(admission)
    if (signed instanceof Promise) return signed
    if (signed !== undefined && this.#isFresh(signed.at)) return signed.admission
    const { subject, claims } = admission
    if (subject === null) return admission
    const signing = this.#sign(admission, { id: subject, claims })
    this.#signed.set(admission, signing)
    return signing
  }

  /** The key set (RFC 7517 section 5); null if the store has none and cannot be reached. */
  async keySet(): Promise<string | null> {
    const keys = await this.#keys.current().catch(() => null)
    return keys && JSON.stringify({ keys: keys.published })
  }

  async #sign(admission: Admission, subject: Subject): Promise<Admission | GateFault> {
    const now = this.#clock.now()
    try {
      const [jwk] = (await this.#keys.current()).signing
      const token = await signIdentity(subject, this.#config, { kid: jwk!.kid!, key: keyOf(jwk!) }, now)
      const signed = {
        ...admission,
        changes: admission.changes.with(identityField, token),
        isCurrent: () => this.#isFresh(now) && admission.isCurrent(),
      }
      this.#signed.set(admission, { admission: signed, at: now })
      return signed
    } catch {
      this.#signed.delete(admission)
      return withoutKey
    }
  }

  /** A clock that is set back must not let it live on. */
  #isFresh(at: number): boolean {
    return Math.abs(this.#clock.now() - at) < identityRenewal
  }
}

const keyOf = memoizeEach((key: Jwk) => createPrivateKey({ key, format: 'jwk' }))

const withoutKey: GateFault = {
  kind: 'unavailable',
  cause: { code: 'GH_IDENTITY_KEY_MISSING' },
  wait: 5,
  challenge: null,
}
