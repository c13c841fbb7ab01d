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

/** RFC 9773 section 4.2; ms since the epoch. */
export interface RenewalInfo {
  readonly window: { readonly start: number; readonly end: number }
  /** Ms; null if not specified. */
  readonly retryAfter: number | null
}

/** Methods reject with `AcmeProblem`, or with an AbortError once it is closed. */
export interface Authority {
  /** Ms that the last response requests; null for none. */
  readonly pause: number | null
  register(): Promise<string>
  updateContact(email: string | null): Promise<void>
  /** `replaces` is the id of the previous certificate (RFC 9773 section 5). */
  order(host: string, replaces: string | null): Promise<AuthorityOrder>
  poll(orderUrl: string): Promise<AuthorityOrder>
  authorizations(order: AuthorityOrder): Promise<readonly AuthorityAuthorization[]>
  keyAuthorization(challenge: AuthorityChallenge): Promise<string>
  /** Makes the certificate for tls-alpn-01 (RFC 8737). */
  validation(host: string, keyAuthorization: string): Promise<TlsIdentity>
  respond(challenge: AuthorityChallenge): Promise<void>
  /** `key` is PEM. */
  finalize(order: AuthorityOrder, host: string, key: string): Promise<void>
  download(order: AuthorityOrder): Promise<string>
  /** Null if the authority does not say. */
  renewalInfo(certificateId: string): Promise<RenewalInfo | null>
  close(): void
}

export interface AuthorityAccount {
  /** PEM. */
  readonly key: string
  readonly url: string | null
}

interface ProblemFacts {
  /** Of its URN, such as rateLimited; null without a problem document (RFC 8555 section 6.7). */
  readonly type: string | null
  readonly detail: string
  /** Null without a response. */
  readonly status: number | null
  /** In ms; null if not specified. */
  readonly retryAfter?: number | null
}

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

  get isRateLimit(): boolean {
    return this.type === 'rateLimited' || this.status === 429
  }

  get isOutage(): boolean {
    return this.status === null ? this.type === null : this.status >= 500
  }
}
