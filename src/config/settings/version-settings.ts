// Which versions of HTTP are spoken to origins and providers.

import type { Findings, Place } from '../file/mistake.ts'
import { type TransportConfig, usualTransport } from '../pool-config.ts'
import { oneOf, whole } from './rules.ts'
import { optional, placed, scalar, unwritten, type Values } from './shape.ts'

export const versions = {
  http: optional(scalar(oneOf('1', '2', 'h2c')), usualTransport.http),
  streams: optional(placed(scalar(whole(1, 10_000))), unwritten('streams', usualTransport.streams)),
}

type VersionSettings = Values<typeof versions>

/** Returns the version and the streams of a connection; notes streams where connections have none. */
export function resolveVersions(
  { http, streams }: VersionSettings,
  findings: Findings,
): Pick<TransportConfig, 'http' | 'streams'> {
  if (streams.value !== usualTransport.streams && http === '1')
    findings.flaw(streams, 'requires http: 2 or http: h2c')
  return { http, streams: streams.value }
}

/** Notes a version that the scheme of a URL rules out; `setting` names the one that chooses it, where it is in another place. */
export function refuseOtherScheme(
  { http, isPlain }: { readonly http: TransportConfig['http']; readonly isPlain: boolean },
  { setting, ...place }: Place & { readonly setting: (version: string) => string },
  findings: Findings,
): void {
  if (isPlain && http === '2')
    findings.flaw(
      place,
      `has an http url, but ${setting('http: 2')} requires https; http: h2c does without TLS`,
    )
  if (!isPlain && http === 'h2c')
    findings.flaw(place, `has an https url, but ${setting('http: h2c')} does without TLS; use http: 2`)
}
