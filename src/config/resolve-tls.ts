// What TLS towards origins and providers amounts to. Called by resolve and resolve-ai.
import type { Findings, Place } from './mistake.ts'
import type { OriginTls, TlsSettings } from './schema.ts'

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
