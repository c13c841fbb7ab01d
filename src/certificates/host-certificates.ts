// The certificate of each host, and its source.

import type { TlsConfig } from '../config/model/config.ts'
import type { Certificate } from '../tls/certificate.ts'
import { certificateStates, type CertificateStatus } from './acme/certificate-state.ts'
import { byNames, type Candidate, forHost } from './by-name.ts'

/** `missing` also without any valid certificate. */
export const hostCertificateStates = [...certificateStates, 'expired', 'not_yet_valid'] as const

export interface HostCertificateInfo {
  readonly host: string
  /** Null if no certificate is valid for the host, and none will be obtained. */
  readonly source: 'file' | 'acme' | null
  readonly state: (typeof hostCertificateStates)[number]
  /** Of an ECDSA and an RSA one in files, the one that expires first; null for none. */
  readonly certificate: Pick<Certificate, 'subject' | 'issuer' | 'names'> | null
  /** In ms since the epoch, as all times here; null for none. */
  readonly notAfter: number | null
  /** Of an automatic one; the next time is null for as soon as possible. */
  readonly issuedAt: number | null
  readonly nextAt: number | null
  readonly failures: number
  readonly lastError: CertificateStatus['lastError']
}

/** Those of the configuration take precedence over automatic ones. */
export function hostCertificates(
  hosts: readonly string[],
  { certificates }: Pick<TlsConfig, 'certificates'>,
  statuses: readonly CertificateStatus[],
  now: number,
): readonly HostCertificateInfo[] {
  const files = byNames(certificates)
  const byHost = new Map(statuses.map(status => [status.host, status]))
  return hosts.map(host => {
    const candidates = forHost(files, host)
    const status = byHost.get(host)
    return candidates !== undefined
      ? ofFiles(host, [...candidates.values()], now)
      : status === undefined
        ? { ...none, host }
        : ofAcme(status, now)
  })
}

const none: Omit<HostCertificateInfo, 'host'> = {
  source: null,
  state: 'missing',
  certificate: null,
  notAfter: null,
  issuedAt: null,
  nextAt: null,
  failures: 0,
  lastError: null,
}

/** Clients get the algorithm that they support, so the first certificate to lack something is noticed. */
function ofFiles(host: string, candidates: readonly Candidate[], now: number): HostCertificateInfo {
  const certificates = candidates.map(({ certificate }) => certificate)
  const first = certificates.reduce((one, other) => (other.notAfter < one.notAfter ? other : one))
  const early = certificates.find(({ notBefore }) => notBefore > now)
  const certificate = first.notAfter <= now ? first : (early ?? first)
  const { notAfter } = certificate
  const state = notAfter <= now ? 'expired' : early === undefined ? 'valid' : 'not_yet_valid'
  return { ...none, host, source: 'file', state, certificate, notAfter }
}

function ofAcme({ directory, renewAt, ...status }: CertificateStatus, now: number): HostCertificateInfo {
  const { state, notAfter } = status
  const isExpired = notAfter !== null && notAfter <= now && state !== 'failing'
  return { ...status, source: 'acme', state: isExpired ? 'expired' : state }
}

/** For the management API, and the JSON of the command line. */
export function viewHostCertificate({
  host,
  source,
  state,
  certificate,
  failures,
  lastError,
  ...times
}: HostCertificateInfo) {
  const { subject = null, issuer = null, names = [] } = certificate ?? {}
  return {
    host,
    source,
    status: state,
    subject,
    issuer,
    names,
    expires_on: isoTime(times.notAfter),
    issued_on: isoTime(times.issuedAt),
    next_attempt_at: isoTime(times.nextAt),
    consecutive_failures: failures,
    last_error: lastError && { at: isoTime(lastError.at), message: lastError.message },
  }
}

function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}
