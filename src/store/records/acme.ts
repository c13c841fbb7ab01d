// The stored state of ACME (RFC 8555): the account at an authority, and the certificate of each host with its
// current order. Times are ms since the epoch.

/** The owner of both, which belong to no account of the API. */
export const acmeOwner = 'acme'

export interface AcmeAccount {
  readonly account: typeof acmeOwner
  /** A digest of the directory URL. */
  readonly id: string
  readonly directory: string
  readonly createdAt: number
  /** The private key as PEM, sealed with a server key. */
  readonly sealedKey: string
  readonly url: string | null
  readonly email: string | null
  /** The authority gets no requests before this time; null for no limit. */
  readonly restUntil: number | null
  /** How often in a row the authority did not respond, or was too busy. */
  readonly failures: number
}

export interface HostCertificate {
  readonly account: typeof acmeOwner
  readonly id: string
  readonly createdAt: number
  readonly issued: IssuedCertificate | null
  readonly order: AcmeOrder | null
  /** When to renew the issued certificate; null before the first one. */
  readonly renewal: RenewalTime | null
  readonly failures: number
  /** No attempt is made before this time; null for no limit. */
  readonly restUntil: number | null
  readonly lastError: AcmeFailure | null
  readonly requestedAt: number | null
  readonly lease: AcmeLease | null
}

export interface IssuedCertificate {
  readonly directory: string
  /** The certificate and its issuers, as PEM. */
  readonly chain: string
  /** The private key as PEM, sealed with a server key. */
  readonly sealedKey: string
  readonly issuedAt: number
}

interface AcmeOrder {
  readonly directory: string
  readonly url: string
  /** The private key of the future certificate, as PEM, sealed with a server key. */
  readonly sealedKey: string
  readonly startedAt: number
  readonly challenge: AcmeChallenge | null
}

/** Proves to the authority that the host is served here. */
export interface AcmeChallenge {
  readonly type: 'http-01' | 'tls-alpn-01'
  readonly token: string
  readonly keyAuthorization: string
  /** The certificate of tls-alpn-01 (RFC 8737), and its key; neither is secret. */
  readonly validation: { readonly certificate: string; readonly key: string } | null
}

export interface RenewalTime {
  readonly at: number
  /** When to ask the authority for its renewal window again (RFC 9773). */
  readonly askAt: number
  readonly window: { readonly start: number; readonly end: number } | null
}

interface AcmeFailure {
  readonly at: number
  /** A sentence, without secrets. */
  readonly message: string
}

/**
 * The process that works on a certificate. If it does not write for a while, another process that notices may
 * take over. Only the holder writes, since each write names the version that it replaces.
 */
interface AcmeLease {
  readonly holder: string
  /** A number that is raised if nothing else is written. */
  readonly beat: number
}
