// What TLS towards origins and providers is told, and what it amounts to. Put into both by schema and pool-settings, resolved with both.
import type { OriginTls } from './config.ts'
import { serverName } from './host-rules.ts'
import type { Findings, Place } from './mistake.ts'
import { certificates, truth } from './rules.ts'
import { optional, scalar, type Values } from './shape.ts'

export const tls = {
  verify: optional(scalar(truth), true),
  server_name: optional(scalar(serverName), null),
  ca: optional(scalar(certificates, { unprinted: true }), null),
}

export type TlsSettings = Values<typeof tls>

/** Gives the settings of TLS; notes those that a connection without TLS cannot have. */
export function resolveTls(
  settings: TlsSettings,
  place: Place & { readonly isPlain: boolean },
  findings: Findings,
): OriginTls {
  const { verify, server_name: serverName, ca } = settings
  if (place.isPlain && (!verify || serverName !== null || ca !== null)) {
    findings.flaw(place, 'has verify: false, server_name or ca, which only an https url can have')
  }
  return { verify, serverName, ca }
}
