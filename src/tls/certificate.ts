// What a certificate says: its hosts, its validity, and the algorithm of its key.

import { X509Certificate } from 'node:crypto'
import { canonicalAddress } from '../net/address/address.ts'
import { distinguishedName } from './distinguished-name.ts'
import { validityOf } from './validity.ts'

export class Certificate {
  /**
   * Lower-case names and addresses of its subjectAltName; `*.` stands for one label (RFC 9525 section 6.3).
   */
  readonly names: readonly string[]
  /** Wall-clock ms. */
  readonly notBefore: number
  readonly notAfter: number
  /** Such as `ec` and `rsa`. */
  readonly keyType: string
  readonly #certificate: X509Certificate

  /** Takes PEM, of which the first certificate counts; throws for anything else. */
  constructor(pem: string) {
    this.#certificate = new X509Certificate(pem)
    const { subjectAltName, publicKey } = this.#certificate
    this.names = namesIn(subjectAltName ?? '')
    const { notBefore, notAfter } = validityOf(this.#certificate)
    this.notBefore = notBefore
    this.notAfter = notAfter
    if (Number.isNaN(this.notBefore) || Number.isNaN(this.notAfter))
      throw new TypeError('the validity of the certificate cannot be read')
    this.keyType = publicKey.asymmetricKeyType!
  }

  /** As RFC 4514 writes it, such as `CN=shop.example`; empty if it has none. */
  get subject(): string {
    return distinguishedName(this.#certificate.subject)
  }

  get issuer(): string {
    return distinguishedName(this.#certificate.issuer)
  }

  /** Whether it covers a lower-case host name or address. */
  covers(host: string): boolean {
    const dot = host.indexOf('.')
    return this.names.includes(host) || (dot > 0 && this.names.includes(`*${host.slice(dot)}`))
  }
}

/** Parses Node's text of a subjectAltName; names with odd characters, which no host has, are in quotes. */
function namesIn(subjectAltName: string): readonly string[] {
  return subjectAltName.split(', ').flatMap(entry => {
    const [, kind, name] = /^(DNS|IP Address):([^"]+)$/.exec(entry) ?? []
    if (kind === 'DNS') return [name!.toLowerCase()]
    return kind === undefined ? [] : [canonicalAddress(name!) ?? name!]
  })
}
