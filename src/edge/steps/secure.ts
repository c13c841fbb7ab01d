// What a zone requires of the connection and its TLS.

import type { ZoneTls } from '../../config/model/config.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { refuseCertificate } from '../exchange/client-certificate.ts'
import type { ClientTls, Exchange } from '../exchange/exchange.ts'
import { ownStatusLines } from '../exchange/status-lines.ts'

/**
 * Redirects plain HTTP if the zone requires https. Refuses TLS for a host of another zone (1013; over HTTP/2,
 * 421 and only if the certificate differs), a client without an accepted certificate (1017), and TLS that is
 * not approved (1044), too old (1028) or with a suite that is not listed (1029). Version and suite are only
 * known of TLS to this gateway.
 */
export function secure(x: Exchange): Refusal | 'responded' | null {
  const { tls } = x.client
  if (tls !== null && !isFor(x, tls)) {
    if (x.head.version !== '2') return refuse('sni_host_mismatch')
    if (!mayShare(x, tls)) return refuse('misdirected_request')
  }
  if (x.zone === null) return null
  const rules = x.zone.config.tls
  if (rules.redirect && x.scheme !== 'https') return redirect(x)
  if (rules.client !== null) {
    const refusal = refuseCertificate(x, x.zone)
    // Clients of HTTP/2 know how to handle a connection that was opened under other rules.
    if (refusal !== null && x.head.version === '2' && tls !== null && tls.trust !== x.zone.trust)
      return refuse('misdirected_request')
    if (refusal !== null) return refusal
  }
  if (tls === null) return null
  if (rules.fips && !tls.isFips) {
    // The next handshake may follow rules that have changed since.
    x.keepAlive = false
    return refuse('tls_not_fips_compliant')
  }
  if (rules.minVersion === 'TLSv1.3' && tls.version !== 'TLSv1.3') return refuse('tls_version_not_supported')
  return isListed(tls, rules) ? null : refuse('tls_cipher_not_supported')
}

function isListed({ cipher }: ClientTls, { ciphers }: ZoneTls): boolean {
  return ciphers.length === 0 || (ciphers as readonly string[]).includes(cipher)
}

/** A certificate may be valid for several zones, but the handshake followed only one of them. */
function isFor(x: Exchange, { serverName }: ClientTls): boolean {
  if (serverName === null || serverName === x.host) return true
  const { zones, ai } = x.snapshot
  return x.zone === null ? ai?.hosts.has(serverName) === true : zones.find(serverName) === x.zone
}

/**
 * One certificate and the same client certificates for both, and an accepted suite (RFC 9113 section 9.1.1).
 */
function mayShare({ snapshot, zone, host }: Exchange, tls: ClientTls): boolean {
  const { certificates } = snapshot
  const { serverName, trust, isFips } = tls
  if (zone?.config.tls.fips === true && !isFips) return false
  if (zone !== null && !isListed(tls, zone.config.tls)) return false
  return trust === (zone?.trust ?? '') && certificates.find(serverName) === certificates.find(host)
}

function redirect(x: Exchange): Refusal | 'responded' {
  // A client of HTTP/1.0 may name no host.
  if (x.host === '') return refuse('bad_request')
  x.status = 308
  const host = x.host.includes(':') ? `[${x.host}]` : x.host
  const securePort = x.snapshot.publicPort ?? x.plane.securePort
  const port = securePort === 443 ? '' : `:${securePort}`
  const target = x.head.target.startsWith('/') ? x.head.target : '/'
  const lines = `Location: https://${host}${port}${target}\r\nContent-Length: 0\r\nsvc-ray: ${x.ray}\r\n${ownStatusLines(x)}Date: ${x.plane.date()}\r\n`
  x.client.respond(x, { status: 308, reason: 'Permanent Redirect', lines }, '')
  x.client.finish(x)
  return 'responded'
}
