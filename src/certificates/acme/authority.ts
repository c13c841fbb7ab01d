// A certificate authority, reduced to what orders need (RFC 8555), and its problems.

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
  /** Time after which to ask again, in ms; null if not specified. */
  readonly retryAfter: number | null
}

/** One account at one authority. Methods reject with `AcmeProblem`, or with an AbortError once it is closed. */
export interface Authority {
  /** Delay that the last response requests, in ms; null for none. */
  readonly pause: number | null
  /** Registers the key, or finds its account; returns the URL of the account. */
  register(): Promise<string>
  /** Sets the contact address of the account, or removes it. */
  updateContact(email: string | null): Promise<void>
  /** Orders a certificate for a host; `replaces` is the id of the previous one (RFC 9773 section 5). */
  order(host: string, replaces: string | null): Promise<AuthorityOrder>
  poll(orderUrl: string): Promise<AuthorityOrder>
  authorizations(order: AuthorityOrder): Promise<readonly AuthorityAuthorization[]>
  /** Returns the proof that this account requested the token. */
  keyAuthorization(challenge: AuthorityChallenge): Promise<string>
  /** Makes the certificate that proves it by tls-alpn-01 (RFC 8737). */
  validation(host: string, keyAuthorization: string): Promise<TlsIdentity>
  /** Asks the authority to validate the challenge. */
  respond(challenge: AuthorityChallenge): Promise<void>
  /** Requests the certificate for a private key in PEM. */
  finalize(order: AuthorityOrder, host: string, key: string): Promise<void>
  /** Returns the certificate and its issuers, as PEM. */
  download(order: AuthorityOrder): Promise<string>
  /** Returns when to renew the certificate with this id; null if the authority does not say. */
  renewalInfo(certificateId: string): Promise<RenewalInfo | null>
  close(): void
}

/** The key of an account, and its URL. */
export interface AuthorityAccount {
  /** PEM. */
  readonly key: string
  readonly url: string | null
}

interface ProblemFacts {
  /**
   * The last part of its URN, such as rateLimited; null without a problem document (RFC 8555 section 6.7).
   */
  readonly type: string | null
  readonly detail: string
  /** Null without a response. */
  readonly status: number | null
  /** In ms; null if not specified. */
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

  /** Whether the authority asks for a pause. */
  get isRateLimit(): boolean {
    return this.type === 'rateLimited' || this.status === 429
  }

  /** Whether the authority is down or busy, and the order still good. */
  get isOutage(): boolean {
    return this.status === null ? this.type === null : this.status >= 500
  }
}
