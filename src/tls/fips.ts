// What TLS may use under the rules for US federal systems: NIST SP 800-52 revision 2.

import { createHash, getFips } from 'node:crypto'
import type { ClientOffer } from './client-hello.ts'

/** Suites of section 3.3.1, by OpenSSL names: only AES-GCM, with ephemeral keys. */
export const fipsCiphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
].join(':')

/** Curves of section 3.4.2.2 that the listeners support; not X25519, or hybrids with it. */
export const fipsGroups = 'P-256:P-384'

/** Signatures of sections 3.2.1 and 3.4.2.1: at least SHA-256. */
export const fipsSignatures = [
  'ecdsa_secp256r1_sha256',
  'ecdsa_secp384r1_sha384',
  'rsa_pss_rsae_sha256',
  'rsa_pss_rsae_sha384',
  'rsa_pss_rsae_sha512',
  'rsa_pkcs1_sha256',
  'rsa_pkcs1_sha384',
  'rsa_pkcs1_sha512',
].join(':')

const suitesOf13: ReadonlySet<number> = new Set([0x1301, 0x1302])
const suitesOf12: ReadonlySet<number> = new Set([0xc02b, 0xc02c, 0xc02f, 0xc030])
const curves: ReadonlySet<number> = new Set([23, 24])
const tls13 = 0x0304

/**
 * Whether a client can only agree on approved algorithms; TLS 1.2 also needs keys bound to the handshake
 * (section 3.4.1.2).
 */
export function offersFips({ suites, groups, versions, isBound }: ClientOffer): boolean {
  const speaks13 = versions.includes(tls13)
  if (!speaks13 && !isBound) return false
  const approved = speaks13 ? suitesOf13 : suitesOf12
  return suites.some(suite => approved.has(suite)) && groups.some(group => curves.has(group))
}

/** Whether this process uses only the FIPS provider of OpenSSL; `getFips` is also 1 without the provider. */
export function hasFipsProvider(): boolean {
  return getFips() === 1 && canHash('sha256') && !canHash('md5')
}

export function assertFips(): void {
  if (hasFipsProvider()) return
  throw new Error(
    "tls.fips requires OpenSSL's FIPS provider: start with OPENSSL_CONF and OPENSSL_MODULES that load it and with NODE_OPTIONS=--enable-fips, as docs/tls.md shows",
  )
}

function canHash(algorithm: string): boolean {
  try {
    return createHash(algorithm) !== null
  } catch {
    return false
  }
}
