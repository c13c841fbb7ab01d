// Which certificates of files are used for which name: what handshakes show, and what an operator is told of it.

import type { TlsIdentity } from '../config/model/config.ts'
import { Certificate } from '../tls/certificate.ts'

/** A certificate with its key, and what it says. */
export interface Candidate {
  readonly identity: TlsIdentity
  readonly certificate: Certificate
}

/** Sorts by name and, for each, by the type of the key; the first of several counts. */
export function byNames(
  identities: readonly TlsIdentity[],
): ReadonlyMap<string, ReadonlyMap<string, Candidate>> {
  const found = new Map<string, Map<string, Candidate>>()
  for (const identity of identities) {
    const certificate = new Certificate(identity.certificate)
    for (const name of certificate.names) {
      const ofName = found.get(name) ?? new Map<string, Candidate>()
      if (!ofName.has(certificate.keyType)) ofName.set(certificate.keyType, { identity, certificate })
      found.set(name, ofName)
    }
  }
  return found
}

/** Finds what there is for a lower-case host: of its own name, else of the one for all names beside it. */
export function forHost<T>(byName: ReadonlyMap<string, T>, host: string): T | undefined {
  const exact = byName.get(host)
  if (exact !== undefined) return exact
  const dot = host.indexOf('.')
  return dot > 0 ? byName.get(`*${host.slice(dot)}`) : undefined
}
