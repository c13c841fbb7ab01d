// TLS on the listeners of the gateway: usable certificates for the hosts that are served.

import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { Certificate } from '../../tls/certificate.ts'
import { pemBlocks } from '../../tls/pem.ts'
import type { ClientCertificates, Config, TlsConfig, ZoneTls } from '../model/config.ts'
import type { Findings } from '../file/mistake.ts'
import type { Settings, ZoneSettings } from '../settings/schema.ts'
import type { ClientCertificateSettings } from '../settings/listen-settings.ts'
import type { Placed } from '../shape/shape.ts'
import { resolveIdentity } from '../settings/tls-settings.ts'

/** Returns the configured certificates, and records unusable ones, and listeners without any. */
export function resolveServerTls(settings: Settings, findings: Findings): TlsConfig {
  const { certificates: written, min_version: version } = settings.tls
  const identities = written.flatMap(place => {
    const identity = resolveIdentity(place.value, findings)
    return identity === null || findings.concern(place.path) ? [] : [{ place, identity }]
  })
  const certificates = identities.map(({ place, identity }) => ({
    place,
    certificate: new Certificate(identity.certificate),
  }))
  for (const { place, certificate } of certificates)
    if (certificate.names.length === 0)
      findings.flaw(place, 'names no host: its certificate needs a subjectAltName')
  for (const { tls, address } of settings.listen) {
    if (!tls.value || written.length > 0 || settings.tls.auto !== null || findings.concern('tls')) continue
    findings.mistake(
      tls.line === 0 ? address! : tls,
      'a listener with tls requires a certificate in tls.certificates, or tls.auto',
    )
  }
  const isUsed = settings.listen.some(({ tls }) => tls.value)
  if (!isUsed && settings.trusted_proxies.length === 0) warnOfHttps(settings, findings)
  if (!isUsed) warnOfUnaskedClients(settings, findings)
  return {
    certificates: identities.map(({ identity }) => identity),
    minVersion: versions[version],
  }
}

/** Returns a zone's requirements; authorities that cannot verify any client are mistakes. */
export function resolveZoneTls(settings: ZoneSettings['tls'], fips: boolean, findings: Findings): ZoneTls {
  const { redirect, hsts, min_version, ciphers, client_certificates: client } = settings
  return {
    redirect: redirect.value,
    hsts: hsts.value === null ? null : Math.floor(hsts.value / 1000),
    minVersion: versions[min_version],
    ciphers,
    fips: fips || settings.fips_algorithms,
    client: client === null ? null : resolveClientCertificates(client.value, findings),
  }
}

function resolveClientCertificates(
  { ca, crl, mode, forward }: ClientCertificateSettings,
  findings: Findings,
): ClientCertificates | null {
  if (ca === null) return null
  if (crl.length > 0) refuseHalfChains(ca, findings)
  return {
    mode,
    forward,
    authorities: joined(ca),
    revocationLists: crl.length === 0 ? null : joined(crl),
  }
}

/** OpenSSL looks for the revocation list of each issuer, up to a self-signed one. */
function refuseHalfChains(ca: readonly Placed<string>[], findings: Findings): void {
  const authorities = ca.flatMap(({ value }) => pemBlocks(value)).map(pem => new X509Certificate(pem))
  for (const place of ca)
    for (const pem of pemBlocks(place.value)) {
      const authority = new X509Certificate(pem)
      if (authorities.some(one => authority.checkIssued(one))) continue
      const name = JSON.stringify(authority.subject.replaceAll('\n', ', '))
      findings.flaw(
        place,
        `lacks the authority that issued ${name}, which crl requires up to a self-signed one`,
      )
    }
}

function joined(texts: readonly Placed<string>[]): string {
  return texts.map(({ value }) => value).join('\n')
}

const versions = { '1.2': 'TLSv1.2', '1.3': 'TLSv1.3' } as const

function warnOfHttps({ zones }: Settings, findings: Findings): void {
  for (const { value } of zones?.value ?? []) {
    const { redirect, hsts } = value.tls
    if (hsts.value !== null)
      findings.warn(
        hsts,
        'no listener has tls and there are no trusted_proxies, so no request comes over https, and browsers never learn of it',
      )
    if (redirect.value)
      findings.warn(
        redirect,
        'no listener has tls and there are no trusted_proxies, so every request is redirected and none served',
      )
  }
}

function warnOfUnaskedClients({ zones }: Settings, findings: Findings): void {
  for (const { value } of zones?.value ?? []) {
    const client = value.tls.client_certificates
    if (client?.value.mode === 'required')
      findings.warn(
        client,
        'no listener has tls, so no client can show a certificate and every request is refused',
      )
  }
}

/** Warns of hosts without a configured or automatic certificate: their clients get no connection over TLS. */
export function warnOfUncovered(
  { zones, ai, listen, tls: { auto } }: Settings,
  { tls, acme }: Pick<Config, 'tls' | 'acme'>,
  findings: Findings,
): void {
  const isUsed = listen.some(secure => secure.tls.value)
  const isForAll = auto?.value.zones === 'all'
  if (!isUsed || (tls.certificates.length === 0 && !isForAll)) return
  const certificates = tls.certificates.map(({ certificate }) => new Certificate(certificate))
  const hosts: readonly Placed<string>[] = [
    ...(zones?.value.flatMap(({ value }) => (value.tls.auto.value === false ? [] : value.hosts)) ?? []),
    ...ai.hosts,
  ]
  for (const host of hosts) {
    // Clients that ask for an address name no host.
    if (isIP(host.value) !== 0 || acme?.hosts.includes(host.value)) continue
    if (certificates.some(certificate => certificate.covers(host.value)) || findings.concern(host.path))
      continue
    findings.warn(host, 'no certificate is good for this host, so clients cannot reach it over TLS')
  }
}
