// Which client certificates a zone trusts, as options for checking them in a handshake.

import { constants, hash, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import type { ClientCertificates } from '../config/model/config.ts'
import { pemBlocks } from '../tls/pem.ts'

/** Equal for zones, or before and after a reload, with equal trust; empty for none. */
export function trustOf(client: ClientCertificates | null): string {
  if (client === null) return ''
  const cached = trusts.get(client)
  if (cached !== undefined) return cached
  const trust = hash('sha256', JSON.stringify([client.authorities, client.revocationLists]))
  trusts.set(client, trust)
  return trust
}

export function authoritiesOf(client: ClientCertificates): readonly X509Certificate[] {
  const cached = authorities.get(client)
  if (cached !== undefined) return cached
  const read = pemBlocks(client.authorities).map(pem => new X509Certificate(pem))
  authorities.set(client, read)
  return read
}

const authorities = new WeakMap<ClientCertificates, readonly X509Certificate[]>()

const trusts = new WeakMap<ClientCertificates, string>()

/** Sessions are never resumed: revocations and removals take effect for each connection, in each zone. */
export function contextAsking(
  options: SecureContextOptions,
  { authorities, revocationLists }: ClientCertificates,
): SecureContext {
  return createSecureContext({
    ...options,
    ca: authorities,
    ...(revocationLists === null ? {} : { crl: revocationLists }),
    // OpenSSL also requires the list of a trusted intermediate's issuer, which only a root is sure to have.
    allowPartialTrustChain: revocationLists === null,
    secureOptions: (options.secureOptions ?? 0) | constants.SSL_OP_NO_TICKET,
    // Without one, OpenSSL ends the handshake of a client that offers a session.
    sessionIdContext: 'client certificates',
  })
}
