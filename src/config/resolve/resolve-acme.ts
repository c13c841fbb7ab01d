// Automatic certificates: for which hosts, and by which challenges.

import { isIP } from 'node:net'
import { Certificate } from '../../tls/certificate.ts'
import {
  type AcmeChallengeType,
  type AcmeConfig,
  acmeChallenges,
  type TlsIdentity,
  type ZoneConfig,
} from '../model/config.ts'
import { type Findings, stepInto } from '../file/mistake.ts'
import { usualDirectory } from '../settings/acme-settings.ts'
import type { Settings } from '../settings/schema.ts'
import type { Placed } from '../shape/shape.ts'

/** Resolves tls.auto, null without it; hosts that it cannot cover and missing listeners are mistakes. */
export function resolveAcme(
  settings: Settings,
  zones: readonly ZoneConfig[],
  files: readonly TlsIdentity[],
  findings: Findings,
): AcmeConfig | null {
  refuseWithout(settings, findings)
  const { auto } = settings.tls
  if (auto === null) return null
  const { directory, email, terms_agreed: termsAgreed, eab, ca } = auto.value
  const isUnclear = ['directory', 'terms_agreed'].some(key => findings.concern(stepInto(auto.path, key)))
  if (directory === usualDirectory && !termsAgreed && !isUnclear)
    findings.flaw(
      auto,
      "requires terms_agreed: true, by which you accept the terms of service of Let's Encrypt (https://letsencrypt.org/repository/)",
    )
  const { key_id: id = null, mac_key: key = null } = eab ?? {}
  return {
    directory,
    email,
    termsAgreed,
    challenges: challengesFor(settings, auto, findings),
    binding: id === null || key === null ? null : { id, key },
    ca,
    hosts: hostsFor(settings, zones, files, findings),
  }
}

function refuseWithout({ tls, zones }: Settings, findings: Findings): void {
  if (tls.auto !== null || findings.concern('tls.auto')) return
  for (const { value } of zones?.value ?? [])
    if (value.tls.auto.value === true) findings.flaw(value.tls.auto, 'requires tls.auto')
}

type Auto = NonNullable<Settings['tls']['auto']>

/** Returns the challenges that the listeners allow, in the order in which they are tried. */
function challengesFor({ listen }: Settings, auto: Auto, findings: Findings): readonly AcmeChallengeType[] {
  const hasSecure = listen.some(({ tls }) => tls.value)
  const hasPlain = listen.some(({ tls }) => !tls.value)
  if (!hasSecure && !findings.concern('listen')) findings.flaw(auto, 'requires a listener with tls: true')
  const { challenges } = auto.value
  const possible = (type: AcmeChallengeType) => (type === 'http-01' ? hasPlain : hasSecure)
  if (challenges !== null && !hasPlain && !challenges.value.some(possible))
    findings.flaw(challenges, 'has http-01 only, which requires a listener without tls; add tls-alpn-01')
  return (challenges?.value ?? acmeChallenges).filter(possible)
}

/** Returns the hosts that no certificate of the file covers, and records wildcards among them. */
function hostsFor(
  { tls, zones: written, ai }: Settings,
  zones: readonly ZoneConfig[],
  files: readonly TlsIdentity[],
  findings: Findings,
): readonly string[] {
  const { directory, zones: which } = tls.auto!.value
  const certificates = files.map(({ certificate }) => new Certificate(certificate))
  const isCovered = (host: string) => certificates.some(certificate => certificate.covers(host))
  const members = (written?.value ?? []).map(({ value }) => value)
  const chosen = members
    .filter(zone => zone.tls.auto.value ?? which === 'all')
    .flatMap(zone => zone.hosts)
    .filter(({ value }) => !isCovered(value))
  for (const host of chosen) if (host.value.startsWith('*.')) refuseWildcard(host, findings)
  // Hosts of the file are known by their zones; the others are published by this gateway.
  const hosts = new Set(members.flatMap(zone => zone.hosts.map(({ value }) => value)))
  const published = zones.flatMap(({ hosts }) => hosts).filter(host => !hosts.has(host))
  const ofAll =
    which === 'all'
      ? [...ai.hosts.map(({ value }) => value).filter(host => !hosts.has(host)), ...published]
      : []
  const wanted = [...chosen.map(({ value }) => value), ...ofAll.filter(host => !isCovered(host))]
  return [...new Set(wanted)].filter(host => isCertifiable(host, directory))
}

function refuseWildcard(host: Placed<string>, findings: Findings): void {
  findings.flaw(
    host,
    'is a wildcard, for which tls.auto gets no certificate: add one to tls.certificates, or set tls: { auto: false } in this zone',
  )
}

/** Public authorities certify only names of the public DNS (RFC 6761, RFC 6762), none addresses. */
function isCertifiable(host: string, directory: string): boolean {
  if (isIP(host) !== 0 || host.startsWith('*.') || host === 'localhost') return false
  return (
    directory !== usualDirectory ||
    (host.includes('.') && !/\.(localhost|local|internal|test|example|invalid|onion|home\.arpa)$/.test(host))
  )
}
