// `gatehouse certificates`: the certificates of the configured hosts, straight from the store.

import { restOf } from '../../certificates/acme/schedule.ts'
import { isRateLimited, certificateStatus } from '../../certificates/acme/certificate-state.ts'
import {
  type HostCertificateInfo,
  hostCertificates,
  viewHostCertificate,
} from '../../certificates/host-certificates.ts'
import type { AcmeConfig } from '../../config/model/config.ts'
import { acmeOwner } from '../../store/records/acme.ts'
import type { Store } from '../../store/contract/store.ts'
import { withConfiguredStore } from './store/configured-store.ts'
import type { Input } from './input.ts'
import { columns } from '../terminal/format.ts'
import { refuse, printResult, tellDone } from '../terminal/output.ts'

const minute = 60_000
/** Minimum age before a new certificate is replaced, in ms: authorities limit certificates per host. */
const leastAge = 60 * minute

export function list(input: Input): Promise<number> {
  return withConfiguredStore(input, async (store, config) => {
    const now = Date.now()
    const { acme, tls } = config
    const records = acme === null ? [] : await recordsOf(acme, store)
    const statuses = records.map(([host, record]) =>
      // The key remains encrypted here.
      certificateStatus(host, record && { record, key: '' }, acme!.directory, now),
    )
    const hosts = [...new Set([...config.zones.flatMap(({ hosts }) => hosts), ...config.ai.hosts])]
    const holdings = hostCertificates(hosts, tls, statuses, now)
    return printResult(input, holdings.map(viewHostCertificate), columns([head, ...holdings.map(cells)]))
  })
}

/** Makes a running gateway order a new certificate at once; returns 1 if that is not safe. */
export function renew(input: Input): Promise<number> {
  const host = input.args[0]!.toLowerCase()
  return withConfiguredStore(input, async (store, { acme }) => {
    if (!acme?.hosts.includes(host))
      return refuse(`${host} is not a host that tls.auto gets certificates for`)
    const certificate = await store.certificates.get(acmeOwner, host)
    if (certificate === null)
      return refuse(`${host} has no certificate yet; a running gateway orders one by itself`)
    const { record, version } = certificate
    const { issued, lease, restUntil, lastError } = record
    const now = Date.now()
    const rest = restOf(restUntil, now)
    if (rest > now && isRateLimited(lastError))
      return refuse(`the authority asks to be left alone until ${moment(rest)}: ${lastError!.message}`)
    if (issued !== null && issued.issuedAt > now - leastAge && lastError === null)
      return refuse(
        `the certificate of ${host} is less than an hour old, and authorities limit how many they issue`,
      )
    // It may also be asking when to renew.
    if (lease !== null) return refuse(`a gateway is at work on the certificate of ${host}: try again`)
    if (!(await store.certificates.replace({ ...record, requestedAt: now, restUntil: null }, version)))
      return refuse(`a gateway has just changed the certificate of ${host}: try again`)
    return tellDone(
      input,
      { host, requested_at: new Date(now).toISOString() },
      `A running gateway now orders a certificate for ${host}; see gatehouse certificates list.`,
    )
  })
}

async function recordsOf({ hosts }: AcmeConfig, { certificates }: Store) {
  const rows = hosts.map(
    async host => [host, (await certificates.get(acmeOwner, host))?.record ?? null] as const,
  )
  return Promise.all(rows)
}

const head = ['HOST', 'SOURCE', 'STATUS', 'EXPIRES', 'NEXT ORDER', 'LAST ERROR']

function cells({ host, source, state, notAfter, nextAt, lastError }: HostCertificateInfo): string[] {
  return [host, source ?? '-', state, moment(notAfter), moment(nextAt), lastError?.message ?? '-']
}

function moment(time: number | null): string {
  return time === null ? '-' : new Date(time).toISOString().replace(/\.\d+Z$/, 'Z')
}
