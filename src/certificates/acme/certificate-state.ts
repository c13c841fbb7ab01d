// How the certificate of a host stands, in one word and a few facts: what is due, and what an operator should know.

import type { HostCertificate, IssuedCertificate } from '../../store/records/acme.ts'
import { Certificate } from '../../tls/certificate.ts'
import { restOf } from './schedule.ts'

/**
 * `missing`: there is none yet; `ordering`: a gateway is at it; `valid`: there is one, and none is due; `due`: a new one is to be got; `failing`: the last attempt failed;
 * `unreadable`: its key was sealed with another server key.
 */
export const certificateStates = ['valid', 'due', 'ordering', 'missing', 'failing', 'unreadable'] as const
export type CertificateState = (typeof certificateStates)[number]

export interface CertificateStatus {
  readonly host: string
  readonly state: CertificateState
  /** Null where there is none. */
  readonly certificate: Certificate | null
  /** Until when it is good, in ms since the epoch. */
  readonly notAfter: number | null
  readonly issuedAt: number | null
  readonly directory: string | null
  /** When a new one is to be got, ms since the epoch: not before this; null for as soon as possible. */
  readonly nextAt: number | null
  /** The same time where that has come, too; null where none is set, since there is no certificate yet. */
  readonly renewAt: number | null
  readonly failures: number
  readonly lastError: { readonly at: number; readonly message: string } | null
}

/** Whether a certificate is to be got now, as far as the time of renewal says, and not that of a rest. */
export function isDue(record: HostCertificate, directory: string, now: number): boolean {
  const { issued, renewal, requestedAt } = record
  if (requestedAt !== null || issued === null || issued.directory !== directory) return true
  return renewal === null || renewal.at <= now
}

/** Whether the last attempt failed since the authority asks to be left alone. */
export function isRateLimited(lastError: CertificateStatus['lastError']): boolean {
  return lastError?.message.startsWith('rateLimited: ') ?? false
}

/** Returns how a host stands that has this record, or none. */
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

/** Reads a certificate once: each look at the metrics asks for all of them. */
function certificateOf(issued: IssuedCertificate): Certificate {
  const known = certificates.get(issued) ?? new Certificate(issued.chain)
  certificates.set(issued, known)
  return known
}

const certificates = new WeakMap<IssuedCertificate, Certificate>()
