// Puts certificates in the order of TLS: that of the key, then each after one that it has issued (RFC 8446
// 4.4.2).

import { type KeyObject, X509Certificate } from 'node:crypto'

interface Chain {
  /** All of them once, the unrelated ones at the end. */
  readonly certificates: readonly string[]
  /** Certificates that have issued none of the others in the chain. */
  readonly strangers: readonly string[]
}

/** Sorts certificates, in PEM; returns null if none of them matches the key. */
export function chainFor(key: KeyObject, certificates: readonly string[]): Chain | null {
  const given = certificates.map(pem => ({ pem, certificate: new X509Certificate(pem) }))
  const left = new Map(given.map(one => [one.certificate.fingerprint256, one]))
  const leaf = [...left.values()].find(({ certificate }) => certificate.checkPrivateKey(key))
  if (leaf === undefined) return null
  const chain = [leaf]
  left.delete(leaf.certificate.fingerprint256)
  for (const { certificate } of chain)
    for (const [fingerprint, issuer] of left)
      if (certificate.checkIssued(issuer.certificate)) {
        chain.push(issuer)
        left.delete(fingerprint)
      }
  const strangers = [...left.values()].map(({ pem }) => pem)
  return { certificates: [...chain.map(({ pem }) => pem), ...strangers], strangers }
}
