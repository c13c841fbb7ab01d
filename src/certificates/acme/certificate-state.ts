// The state of a host's certificate, in one word and a few facts for operators.

import type { HostCertificate, IssuedCertificate } from '../../store/records/acme.ts'
import { Certificate } from '../../tls/certificate.ts'
import { restOf } from './schedule.ts'

/** `due`: to be renewed; `failing`: the last attempt failed; `unreadable`: sealed with another key. */
export const certificateStates = ['valid', 'due', 'ordering', 'missing', 'failing', 'unreadable'] as const
export type CertificateState = (typeof certificateStates)[number]

export interface CertificateStatus {
  readonly host: string
  readonly state: CertificateState
  readonly certificate: Certificate | null
  /** In ms since the epoch. */
  readonly notAfter: number | null
  readonly issuedAt: number | null
  readonly directory: string | null
  /** In ms since the epoch; null for as soon as possible. */
  readonly nextAt: number | null
  /** Even if it has passed; null without a certificate. */
  readonly renewAt: number | null
  readonly failures: number
  readonly lastError: { readonly at: number; readonly message: string } | null
}

/** Ignores pauses after failures. */
export function isDue(record: HostCertificate, directory: string, now: number): boolean {
  const { issued, renewal, requestedAt } = record
  if (requestedAt !== null || issued === null || issued.directory !== directory) return true
  return renewal === null || renewal.at <= now
}

export function isRateLimited(lastError: CertificateStatus['lastError']): boolean {
  return lastError?.message.startsWith('rateLimited: ') ?? false
}

export function certificateStatus(
  host: string,
  stored: { readonly record: HostCertificate; readonly key: string | null } | null,
  directory: string,
  now: number,
): CertificateStatus {
  if (stored === null)
    return {
      host,
      state: 'missing',
      certificate: null,
      notAfter: null,
      issuedAt: null,
      directory: null,
      nextAt: null,
      renewAt: null,
      failures: 0,
      lastError: null,
    }
  const { record, key } = stored
  const { issued, renewal, failures, lastError } = record
  const certificate = issued && certificateOf(issued)
  const due = isDue(record, directory, now)
  const planned = renewal?.at ?? 0
  const rest = restOf(record.restUntil, now)
  const at = Math.max(due ? 0 : planned, rest)
  const renewAt = Math.max(due ? Math.min(planned, now) : planned, rest)
  return {
    host,
    state: stateOf(record, key, due),
    certificate,
    notAfter: certificate?.notAfter ?? null,
    issuedAt: issued?.issuedAt ?? null,
    directory: issued?.directory ?? null,
    nextAt: at > now ? at : null,
    renewAt: renewAt > 0 ? renewAt : null,
    failures,
    lastError,
  }
}

function stateOf(record: HostCertificate, key: string | null, due: boolean): CertificateState {
  if (record.issued !== null && key === null) return 'unreadable'
  if (record.failures > 0) return 'failing'
  if (record.lease !== null && due) return 'ordering'
  if (record.issued === null) return 'missing'
  return due ? 'due' : 'valid'
}

/** Each scrape of the metrics needs all of them. */
function certificateOf(issued: IssuedCertificate): Certificate {
  const certificate = certificates.get(issued) ?? new Certificate(issued.chain)
  certificates.set(issued, certificate)
  return certificate
}

const certificates = new WeakMap<IssuedCertificate, Certificate>()
