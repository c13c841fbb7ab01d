// Which certificates a TLS handshake uses: those for the name that the client asks for, one for each algorithm.

import { hash } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { TlsConfig, TlsIdentity } from '../config/config.ts'
import { Certificate } from '../tls/certificate.ts'

/** What TLS 1.2 may use: forward secrecy and authenticated encryption alone. All suites of TLS 1.3 have both. */
const ciphers = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** The key exchanges that all clients know, and the one that quantum computers cannot break; of others, such as ffdhe3072, one costs a server up to 20 times as much as X25519. */
const groups = 'X25519MLKEM768:X25519:P-256:P-384'

export class Certificates {
  readonly all: readonly Certificate[]
  readonly #byName: ReadonlyMap<string, SecureContext>
  /** For clients that name no host; null where there is no certificate at all. */
  readonly #first: SecureContext | null
  /** By a digest of what they were made of. */
  readonly #contexts = new Map<string, SecureContext>()

  /** Throws for a pair that cannot be used. Takes over what `before` has of the same certificates, so that sessions can be resumed. */
  constructor({ certificates, minVersion }: TlsConfig, before: Certificates | null = null) {
    const pairs = certificates.map(identity => ({
      identity,
      certificate: new Certificate(identity.certificate),
    }))
    this.all = pairs.map(({ certificate }) => certificate)
    const byName = new Map<string, Map<string, TlsIdentity>>()
    for (const { identity, certificate } of pairs)
      for (const name of certificate.names) {
        const ofName = byName.get(name) ?? new Map<string, TlsIdentity>()
        if (!ofName.has(certificate.keyType)) ofName.set(certificate.keyType, identity)
        byName.set(name, ofName)
      }
    const contexts = [...byName].map(
      ([name, identities]) => [name, this.#contextOf([...identities.values()], minVersion, before)] as const,
    )
    this.#byName = new Map(contexts)
    this.#first = contexts[0]?.[1] ?? null
  }

  /** Finds what to use for a lower-case server name, null for none; returns null where there is no certificate for it. */
  find(serverName: string | null): SecureContext | null {
    if (serverName === null) return this.#first
    const exact = this.#byName.get(serverName)
    if (exact !== undefined) return exact
    const dot = serverName.indexOf('.')
    return (dot > 0 && this.#byName.get(`*${serverName.slice(dot)}`)) || null
  }

  #contextOf(
    identities: readonly TlsIdentity[],
    minVersion: TlsConfig['minVersion'],
    before: Certificates | null,
  ): SecureContext {
    const digest = hash('sha256', JSON.stringify([minVersion, identities]))
    const earlier = before === null ? undefined : before.#contexts.get(digest)
    const context =
      this.#contexts.get(digest) ??
      earlier ??
      createSecureContext({
        cert: identities.map(({ certificate }) => certificate),
        key: identities.map(({ key }) => key),
        ciphers,
        ecdhCurve: groups,
        minVersion,
      })
    this.#contexts.set(digest, context)
    return context
  }
}
