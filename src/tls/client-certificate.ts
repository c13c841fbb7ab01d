// The content of a client's certificate, in ASCII without control characters, whatever its issuer allowed.

import type { X509Certificate } from 'node:crypto'
import { distinguishedName, visible } from './distinguished-name.ts'
import { validityOf } from './validity.ts'

/** Why a certificate is rejected; `crl`: a revocation list that it needs is missing or out of date. */
export type CertificateFault =
  | 'expired'
  | 'not_yet_valid'
  | 'revoked'
  | 'authority'
  | 'purpose'
  | 'crl'
  | 'other'

export class ClientCertificate {
  /** Null if it is accepted. */
  readonly fault: CertificateFault | null
  /** OpenSSL's code of the fault. */
  readonly cause: string | null
  /** Wall-clock ms. */
  readonly notBefore: number
  readonly notAfter: number
  /** Lower-case hex SHA-256 of its DER. */
  readonly fingerprint: string
  readonly #certificate: X509Certificate
  #subject: string | null = null
  #names: ReadonlyMap<string, readonly string[]> | null = null

  constructor(certificate: X509Certificate, cause: string | null) {
    this.#certificate = certificate
    this.cause = cause
    this.fault = cause === null ? null : (faults[cause] ?? 'other')
    const { notBefore, notAfter } = validityOf(certificate)
    this.notBefore = notBefore
    this.notAfter = notAfter
    this.fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase()
  }

  /** As RFC 4514 writes it, such as `CN=alice,O=Shop`; bytes outside ASCII as `\C3\A9`. */
  get subject(): string {
    return (this.#subject ??= distinguishedName(this.#certificate.subject))
  }

  get issuer(): string {
    return distinguishedName(this.#certificate.issuer)
  }

  /** In lower-case hex. */
  get serial(): string {
    return this.#certificate.serialNumber.toLowerCase()
  }

  get dnsNames(): readonly string[] {
    return this.#alternatives('DNS')
  }

  get uris(): readonly string[] {
    return this.#alternatives('URI')
  }

  get emails(): readonly string[] {
    return this.#alternatives('email')
  }

  get der(): Buffer {
    return this.#certificate.raw
  }

  /**
   * Returns the DER of the certificates from its issuer to one of these authorities (RFC 9440 section 2.3).
   * Node matches issuers by name only, so a chain that does not lead to an authority, signature by signature,
   * is left out.
   */
  chainTo(authorities: readonly X509Certificate[]): readonly Buffer[] {
    const chain: Buffer[] = []
    let one = this.#certificate
    while (!authorities.some(authority => isIssued(one, authority))) {
      const issuer = one.issuerCertificate
      if (issuer === undefined || chain.length === maxIssuers || !isIssued(one, issuer)) return []
      chain.push(issuer.raw)
      one = issuer
    }
    return chain
  }

  #alternatives(kind: string): readonly string[] {
    this.#names ??= alternativesIn(this.#certificate.subjectAltName ?? '')
    return this.#names.get(kind) ?? []
  }
}

const maxIssuers = 16

function isIssued(one: X509Certificate, issuer: X509Certificate): boolean {
  return one.checkIssued(issuer) && one.verify(issuer.publicKey)
}

const faults: Readonly<Record<string, CertificateFault>> = {
  CERT_HAS_EXPIRED: 'expired',
  CERT_NOT_YET_VALID: 'not_yet_valid',
  CERT_REVOKED: 'revoked',
  INVALID_PURPOSE: 'purpose',
  UNABLE_TO_GET_CRL: 'crl',
  UNABLE_TO_GET_CRL_ISSUER: 'crl',
  CRL_HAS_EXPIRED: 'crl',
  CRL_NOT_YET_VALID: 'crl',
  CRL_SIGNATURE_FAILURE: 'crl',
  UNABLE_TO_GET_ISSUER_CERT: 'authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'authority',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'authority',
  CERT_SIGNATURE_FAILURE: 'authority',
  INVALID_CA: 'authority',
  PATH_LENGTH_EXCEEDED: 'authority',
  CERT_UNTRUSTED: 'authority',
}

/** Parses Node's text of a subjectAltName by kind; a value with odd characters is in quotes. */
function alternativesIn(subjectAltName: string): ReadonlyMap<string, readonly string[]> {
  const names = new Map<string, string[]>()
  for (const [, kind, written] of subjectAltName.matchAll(alternative)) {
    const value = visible(written!.startsWith('"') ? (JSON.parse(written!) as string) : written!)
    const ofKind = names.get(kind!)
    if (ofKind === undefined) names.set(kind!, [value])
    else ofKind.push(value)
  }
  return names
}

const alternative = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g
