// Which certificates of clients a zone trusts: by what a handshake is told to check them.

import { constants, hash, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { ClientCertificates } from '../config/model/config.ts'
import { pemBlocks } from '../tls/pem.ts'

/** Returns what two zones, or a zone before and after a reload, have in common where they trust the same certificates; empty where none is asked for. */
export function trustOf(client: ClientCertificates | null): string {
  if (client === null) return ''
  const cached = trusts.get(client)
  if (cached !== undefined) return cached
  const trust = hash('sha256', JSON.stringify([client.authorities, client.revocationLists]))
  trusts.set(client, trust)
  return trust
}

/** Returns the authorities themselves, read once. */
export function authoritiesOf(client: ClientCertificates): readonly X509Certificate[] {
  const cached = authorities.get(client)
  if (cached !== undefined) return cached
  const read = pemBlocks(client.authorities).map(pem => new X509Certificate(pem))
  authorities.set(client, read)
  return read
}

const authorities = new WeakMap<ClientCertificates, readonly X509Certificate[]>()

const trusts = new WeakMap<ClientCertificates, string>()

/**
 * Makes a context that checks certificates of clients. Its sessions are never resumed: what was revoked or expired since, and authorities that are no longer trusted,
 * count for each connection, and no session of another zone leads here.
 */
export function contextAsking(
  options: SecureContextOptions,
  { authorities, revocationLists }: ClientCertificates,
): SecureContext {
  return createSecureContext({
    ...options,
    ca: authorities,
    ...(revocationLists === null ? {} : { crl: revocationLists }),
    // OpenSSL asks for the revocation list of a trusted issuer too, which only one that signed itself can have checked.
    allowPartialTrustChain: revocationLists === null,
    secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,
    // Without one, OpenSSL ends the handshake of a client that offers a session.
    sessionIdContext: 'client certificates',
  })
}
