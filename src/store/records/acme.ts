// What is kept of ACME (RFC 8555): the account at an authority, and the certificate of each host, with the order that is under way for it. Times are ms since the epoch.

/** The owner of both: they belong to no account of the API. */
export const acmeOwner = 'acme'

export interface AcmeAccount {
  readonly account: typeof acmeOwner
  /** A digest of the directory. */
  readonly id: string
  readonly directory: string
  readonly createdAt: number
  /** The private key as PEM, sealed with a server key. */
  readonly sealedKey: string
  /** Where the authority has it; null until it has accepted it. */
  readonly url: string | null
  /** Under which it was registered; null for none. */
  readonly email: string | null
  /** Before this, the authority is asked for nothing; null for no limit. */
  readonly restUntil: number | null
  /** How often in a row the authority did not respond, or was too busy. */
  readonly failures: number
}

export interface HostCertificate {
  readonly account: typeof acmeOwner
  /** The host. */
  readonly id: string
  readonly createdAt: number
  /** Null before the first one. */
  readonly issued: IssuedCertificate | null
  readonly order: AcmeOrder | null
  /** When to renew what was issued; null before the first one. */
  readonly renewal: RenewalTime | null
  /** Attempts that failed since the last certificate. */
  readonly failures: number
  /** Before this, no attempt is made; null for no limit. */
  readonly restUntil: number | null
  readonly lastError: AcmeFailure | null
  /** When an operator asked for a new one; null once an attempt has ended. */
  readonly requestedAt: number | null
  readonly lease: AcmeLease | null
}

export interface IssuedCertificate {
  readonly directory: string
  /** With those that lead to its authority, as PEM. */
  readonly chain: string
  /** The private key as PEM, sealed with a server key. */
  readonly sealedKey: string
  readonly issuedAt: number
}

interface AcmeOrder {
  readonly directory: string
  readonly url: string
  /** The private key of the certificate to be, as PEM, sealed with a server key. */
  readonly sealedKey: string
  readonly startedAt: number
  /** Null before the authority has said what it asks for. */
  readonly challenge: AcmeChallenge | null
}

/** What proves to the authority that the host is served here. */
export interface AcmeChallenge {
  readonly type: 'http-01' | 'tls-alpn-01'
  readonly token: string
  readonly keyAuthorization: string
  /** The certificate of tls-alpn-01 (RFC 8737), and its key; neither is secret. */
  readonly validation: { readonly certificate: string; readonly key: string } | null
}

export interface RenewalTime {
  readonly at: number
  /** When to ask the authority again for its window (RFC 9773). */
  readonly askAt: number
  /** What it said last; null where it says nothing. */
  readonly window: { readonly start: number; readonly end: number } | null
}

interface AcmeFailure {
  readonly at: number
  /** A sentence, without secrets. */
  readonly message: string
}

/** Who works on it. One that does not write for a while has lost it to the next who sees that; only who has it writes, since each write names the version that it replaces. */
interface AcmeLease {
  readonly holder: string
  /** A number that is raised while nothing else is written. */
  readonly beat: number
}
