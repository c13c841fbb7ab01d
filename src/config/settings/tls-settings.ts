// The TLS settings towards origins and providers.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import type { OriginTls, TlsIdentity } from '../config.ts'
import { serverName } from './host-rules.ts'
import { type Findings, type Place, stepInto } from '../file/mistake.ts'
import { certificates, privateKey, truth } from './rules.ts'
import { optional, type Placed, placed, type Rule, scalar, unwritten, type Values } from './shape.ts'

export const tls = {
  verify: optional(scalar(truth), true),
  server_name: optional(scalar(serverName), null),
  ca: optional(scalar(certificates, { unprinted: true }), null),
}

/** The client certificate of a pool. */
export const identity = {
  certificate: identityPart('certificate', certificates),
  key: identityPart('key', privateKey),
}

function identityPart(name: string, rule: Rule<string>) {
  const none: Placed<string | null> = unwritten(name, null)
  return optional(placed(scalar(rule, { unprinted: true })), none)
}

export type TlsSettings = Values<typeof tls>

/** Returns the TLS settings; notes those that do not apply without TLS. */
export function resolveTls(
  settings: TlsSettings,
  place: Place & { readonly isPlain: boolean },
  findings: Findings,
): OriginTls {
  const { verify, server_name: serverName, ca } = settings
  if (place.isPlain && (!verify || serverName !== null || ca !== null)) {
    findings.flaw(place, 'has verify: false, server_name or ca, which require an https url')
  }
  return { verify, serverName, ca, identity: null }
}

/** Returns the certificate and the key of a pool, or null where it has none; notes one without the other, and a pair that TLS cannot use. */
export function resolveIdentity(
  { certificate, key }: Values<typeof identity>,
  findings: Findings,
): TlsIdentity | null {
  if (certificate.value === null || key.value === null) {
    refuseAlone(certificate, 'key', findings)
    refuseAlone(key, 'certificate', findings)
    return null
  }
  const pair = { certificate: certificate.value, key: key.value }
  const fault = faultOf(pair)
  if (fault !== null) findings.flaw(key, `cannot be used with the certificate (${fault})`)
  return pair
}

function refuseAlone(one: Placed<string | null>, other: string, findings: Findings): void {
  if (one.value === null) return
  const pool = one.path.slice(0, one.path.lastIndexOf('.'))
  if (!findings.concern(stepInto(pool, other))) findings.flaw(one, `needs ${other} as well`)
}

/** Returns the code of OpenSSL's error for the pair, such as for a key of another certificate or one that is too short, or null. */
function faultOf({ certificate, key }: TlsIdentity): string | null {
  try {
    createSecureContext({ cert: certificate, key })
    // OpenSSL compares only a key of the certificate's own type: it keeps one pair of each type, and takes another as the half of a second pair.
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
    return isPair ? null : 'ERR_OSSL_X509_KEY_TYPE_MISMATCH'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown reason'
  }
}
