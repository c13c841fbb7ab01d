// Which certificate each host has, and where it is from.

import type { TlsConfig } from '../config/config.ts'
import { Certificate } from '../tls/certificate.ts'
import { type CertificateState, certificateStates, type Standing } from './acme/standing.ts'

/** Those of automatic ones, and of a file `valid` or `expired`; `missing` also for hosts that nothing is good for. */
export const holdingStates = [...certificateStates, 'expired'] as const

export interface Holding {
  readonly host: string
  /** Null where no certificate is good for the host, and none is got. */
  readonly source: 'file' | 'acme' | null
  readonly state: CertificateState | 'expired'
  /** Ms since the epoch, as all times here; null where there is none. */
  readonly notAfter: number | null
  /** Of an automatic one: when it was issued, and when the next is to be got; null for as soon as possible. */
  readonly issuedAt: number | null
  readonly nextAt: number | null
  readonly failures: number
  readonly lastError: Standing['lastError']
}

/** Returns what each host has; certificates of the configuration come before automatic ones. */
export function holdingsOf(
  hosts: readonly string[],
  { certificates }: Pick<TlsConfig, 'certificates'>,
  standings: readonly Standing[],
  now: number,
): readonly Holding[] {
  const files = certificates.map(({ certificate }) => new Certificate(certificate))
  return hosts.map(host => {
    const ends = files.filter(file => file.covers(host)).map(({ notAfter }) => notAfter)
    if (ends.length > 0) return ofFile(host, Math.min(...ends), now)
    const standing = standings.find(one => one.host === host)
    return standing === undefined
      ? { ...ofFile(host, null, now), source: null, state: 'missing' }
      : ofAcme(standing, now)
  })
}

function ofFile(host: string, notAfter: number | null, now: number): Holding {
  const state = notAfter !== null && notAfter <= now ? 'expired' : 'valid'
  return { host, source: 'file', state, notAfter, issuedAt: null, nextAt: null, failures: 0, lastError: null }
}

function ofAcme(
  { host, state, notAfter, issuedAt, nextAt, failures, lastError }: Standing,
  now: number,
): Holding {
  const isExpired = notAfter !== null && notAfter <= now && state !== 'failing'
  return {
    host,
    source: 'acme',
    state: isExpired ? 'expired' : state,
    notAfter,
    issuedAt,
    nextAt,
    failures,
    lastError,
  }
}
