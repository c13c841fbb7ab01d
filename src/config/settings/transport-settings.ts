// The common settings of pools and providers: their HTTP versions, and the number of connections.

import { hour } from '../../base/units.ts'
import type { Findings, Place } from '../file/mistake.ts'
import { type TransportConfig, usualTransport } from '../model/pool-config.ts'
import { durationOrOff, oneOf, whole, wholeOrOff } from '../shape/rules.ts'
import { group, optional, placed, scalar, unwritten, type Values } from '../shape/shape.ts'

export const transport = {
  http: optional(scalar(oneOf('1', '2', 'h2c')), usualTransport.http),
  streams: optional(placed(scalar(whole(1, 10_000))), unwritten('streams', usualTransport.streams)),
  connections: optional(scalar(wholeOrOff(1, 1e6)), usualTransport.connections),
  queue: group({
    size: optional(scalar(whole(0, 1e6)), usualTransport.queue.size),
    timeout: optional(scalar(durationOrOff(1, hour)), usualTransport.queue.timeout),
  }),
}

type TransportSettings = Values<typeof transport>

/** Returns the settings for connections; records a limit of streams without HTTP/2. */
export function resolveTransport(
  { http, streams, connections, queue }: TransportSettings,
  findings: Findings,
): Pick<TransportConfig, keyof TransportSettings> {
  if (streams.value !== usualTransport.streams && http === '1')
    findings.flaw(streams, 'requires http: 2 or http: h2c')
  return { http, streams: streams.value, connections, queue }
}

/** Refuses a version that the scheme of a URL rules out; `setting` names what chooses it. */
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
