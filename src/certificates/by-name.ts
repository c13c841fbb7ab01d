// Selects the certificates in files for each name.

import type { TlsIdentity } from '../config/model/config.ts'
import { Certificate } from '../tls/certificate.ts'

export interface Candidate {
  readonly identity: TlsIdentity
  readonly certificate: Certificate
}

/** By name and, within it, by type of key; the first of several counts. */
export function byNames(
  identities: readonly TlsIdentity[],
): ReadonlyMap<string, ReadonlyMap<string, Candidate>> {
  const groups = new Map<string, Map<string, Candidate>>()
  for (const identity of identities) {
    const certificate = new Certificate(identity.certificate)
    for (const name of certificate.names) {
      const ofName = groups.get(name) ?? new Map<string, Candidate>()
      if (!ofName.has(certificate.keyType)) ofName.set(certificate.keyType, { identity, certificate })
      groups.set(name, ofName)
    }
  }
  return groups
}

/** Falls back to the wildcard for the parent domain of the lower-case host. */
export function forHost<T>(byName: ReadonlyMap<string, T>, host: string): T | undefined {
  const exact = byName.get(host)
  if (exact !== undefined) return exact
  const dot = host.indexOf('.')
  return dot > 0 ? byName.get(`*${host.slice(dot)}`) : undefined
}
