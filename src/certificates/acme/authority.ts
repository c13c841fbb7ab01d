// A certificate authority as orders need it (RFC 8555), and why it refuses.

import type { TlsIdentity } from '../../config/model/config.ts'

export interface AuthorityOrder {
  readonly url: string
  readonly status: 'pending' | 'ready' | 'processing' | 'valid' | 'invalid'
  readonly authorizations: readonly string[]
  readonly finalize: string
  readonly certificate: string | null
  readonly problem: AcmeProblem | null
}

export interface AuthorityAuthorization {
  readonly status: string
  readonly challenges: readonly AuthorityChallenge[]
}

export interface AuthorityChallenge {
  readonly type: string
  readonly url: string
  readonly token: string
  readonly problem: AcmeProblem | null
}

/** When to renew (RFC 9773 section 4.2); ms since the epoch. */
export interface RenewalInfo {
  readonly window: { readonly start: number; readonly end: number }
  /** Ms after which to ask again; null where it does not say. */
  readonly retryAfter: number | null
}

/** One account at one authority. Methods reject with `AcmeProblem`, or with an AbortError once it is closed. */
export interface Authority {
  /** Ms until it wants to be asked again, as its last response says; null where it does not. */
  readonly pause: number | null
  /** Registers the key, or finds its account; returns where that is. */
  register(): Promise<string>
  /** Has the account reached at this address, or at none. */
  updateContact(email: string | null): Promise<void>
  /** Orders a certificate for a host, in place of one by its id (RFC 9773 section 5). */
  order(host: string, replaces: string | null): Promise<AuthorityOrder>
  look(orderUrl: string): Promise<AuthorityOrder>
  authorizations(order: AuthorityOrder): Promise<readonly AuthorityAuthorization[]>
  /** Returns what proves that this account has asked for the token. */
  keyAuthorization(challenge: AuthorityChallenge): Promise<string>
  /** Makes the certificate by which tls-alpn-01 shows it (RFC 8737). */
  validation(host: string, keyAuthorization: string): Promise<TlsIdentity>
  /** Has the authority look. */
  respond(challenge: AuthorityChallenge): Promise<void>
  /** Asks for the certificate of a private key, PEM. */
  finalize(order: AuthorityOrder, host: string, key: string): Promise<void>
  /** Returns the certificate with those that lead to its authority, PEM. */
  download(order: AuthorityOrder): Promise<string>
  /** Returns when to renew the certificate with this id; null where the authority has no word on that. */
  renewalInfo(certificateId: string): Promise<RenewalInfo | null>
  close(): void
}

/** The account key of one, and where it has it. */
export interface AuthorityAccount {
  /** PEM. */
  readonly key: string
  readonly url: string | null
}

interface ProblemFacts {
  /** The last word of its urn, such as rateLimited; null where there is no problem document (RFC 8555 section 6.7). */
  readonly type: string | null
  readonly detail: string
  /** Null where nothing came back. */
  readonly status: number | null
  /** Ms; null where it does not say. */
  readonly retryAfter?: number | null
}

/** An authority refused, or did not respond. */
export class AcmeProblem extends Error {
  override readonly name = 'AcmeProblem'
  readonly type: string | null
  readonly status: number | null
  readonly retryAfter: number | null

  constructor({ type, detail, status, retryAfter = null }: ProblemFacts) {
    super(type === null ? detail : `${type}: ${detail}`)
    this.type = type
    this.status = status
    this.retryAfter = retryAfter
  }

  /** Whether it asks to be left alone for a while. */
  get isRateLimit(): boolean {
    return this.type === 'rateLimited' || this.status === 429
  }

  /** Whether the authority is down or busy, and the order as good as before. */
  get isOutage(): boolean {
    return this.status === null ? this.type === null : this.status >= 500
  }
}
