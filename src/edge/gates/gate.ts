// What a gate decides about a request.

import type { Facts } from '../../errors/catalogue/refusal.ts'
import type { Claims } from '../../protect/claims.ts'
import type { MaybeAtOnce } from '../../store/contract/store.ts'
import type { HeaderChanges } from '../rewrite/headers.ts'

/** Why a request is not let in. */
export interface GateFault {
  readonly kind: 'missing' | 'invalid' | 'insufficient' | 'refused' | 'unavailable'
  /** For the access log. */
  readonly cause: { readonly code: string }
  /** Seconds to wait; 0 if that does not help. */
  readonly wait: number
  /** The value of WWW-Authenticate; null for none. */
  readonly challenge: string | null
  /** Of the error page, where it is not about a token. */
  readonly wording?: NonNullable<Facts['wording']>
  /** Whether a browser can sign in and come back. */
  readonly leadsToSignIn?: boolean
  /** What the client gets if no gate lets it in; `refused` has one. */
  readonly relayed?: Relayed
}

/** The response of an authorizer: its field lines, and its body in latin1. */
export interface Relayed {
  readonly status: number
  readonly lines: string
  readonly body: string
}

/** That a request is let in, and later ones with the same credential. */
export interface Admission {
  /** Unique among all that this gateway lets in; null if the gate does not know. */
  readonly subject: string | null
  readonly claims: Claims
  /** Removes the credential and what clients must not set, and sets what origins get. */
  readonly changes: HeaderChanges
  isCurrent(): boolean
  /** Set where what is open ends with the credential. */
  readonly watch?: Watch
}

/** Judges a credential again for a request that is still open, which renews no session. */
export interface Watch {
  readonly kind: 'sign_in' | 'token'
  /**
   * Returns why it would no longer be let in, or null; never rejects. `gates` are those of the route by now:
   * where the one that let it in is not among them, others of its kind decide.
   */
  check(x: Requester, gates: readonly object[]): MaybeAtOnce<GateFault | null>
}

/** Where a request comes from, and for what. */
export interface Requester {
  readonly address: string
  /** Returns the URL of the route as the client reaches it; null if it sent no usable host. */
  readonly resource: () => URL | null
}

/** Returns why none of several gates lets a credential in, where there is any; null if one does. */
export function faultIn(outcomes: readonly (Admission | GateFault)[]): GateFault | null {
  const faults = outcomes.filter((outcome): outcome is GateFault => !('changes' in outcome))
  return faults.length < outcomes.length ? null : (faults[0] ?? gone)
}

/** For a credential that nothing takes any more. */
const gone: GateFault = { kind: 'invalid', cause: { code: 'GH_GATE_CHANGED' }, wait: 0, challenge: null }
