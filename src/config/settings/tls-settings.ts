// The TLS settings towards origins and providers.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { Certificate } from '../../tls/certificate.ts'
import { chainFor } from '../../tls/chain.ts'
import { sortPem } from '../../tls/pem.ts'
import type { OriginTls, TlsIdentity } from '../model/config.ts'
import { serverName } from '../shape/host-rules.ts'
import { type Findings, type Place, stepInto } from '../file/mistake.ts'
import { certificates, certificatesWithKey, privateKey, truth } from '../shape/rules.ts'
import { optional, type Placed, placed, type Rule, scalar, unwritten, type Values } from '../shape/shape.ts'

export const tls = {
  verify: optional(scalar(truth), true),
  server_name: optional(scalar(serverName), null),
  ca: optional(scalar(certificates, { unprinted: true }), null),
}

/** A certificate and its key, which may be in one text. */
export const identity = {
  certificate: identityPart('certificate', certificatesWithKey),
  key: identityPart('key', privateKey),
}

function identityPart(name: string, rule: Rule<string>) {
  const none: Placed<string | null> = unwritten(name, null)
  return optional(placed(scalar(rule, { unprinted: true })), none)
}

export type TlsSettings = Values<typeof tls>

/** Returns the TLS settings; records those that do not apply without TLS. */
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

/** Returns the chain and its key, or null; half of a pair, or a useless one, is a mistake. */
export function resolveIdentity(
  { certificate, key }: Values<typeof identity>,
  findings: Findings,
): TlsIdentity | null {
  if (certificate.value === null) {
    refuseAlone(key, 'certificate', findings)
    return null
  }
  const { certificates, keys } = sortPem(certificate.value)
  const [beside] = keys
  const own = keyIn(key.value) ?? beside
  if (own === undefined) {
    refuseAlone(certificate, 'key', findings)
    return null
  }
  if (beside !== undefined && !isSame(beside, own))
    findings.flaw(certificate, 'has another private key than key: leave one of the two out')
  const chain = chainFor(createPrivateKey(own), certificates)
  warnOfStrangers(chain?.strangers ?? [], certificate, findings)
  const sorted = chain?.certificates ?? certificates
  const isAsWritten = keys.length === 0 && isDeepStrictEqual(sorted, certificates)
  const pair = { certificate: isAsWritten ? certificate.value : `${sorted.join('\n')}\n`, key: own }
  const fault = faultOf(pair)
  if (fault !== null && key.value !== null)
    findings.flaw(key, `cannot be used with the certificate (${fault})`)
  else if (fault !== null)
    findings.flaw(certificate, `has a key that fits none of its certificates (${fault})`)
  return pair
}

function keyIn(text: string | null): string | undefined {
  if (text === null) return undefined
  const { certificates, keys } = sortPem(text)
  return certificates.length === 0 ? text : keys[0]
}

function isSame(one: string, other: string): boolean {
  return createPrivateKey(one).equals(createPrivateKey(other))
}

function warnOfStrangers(strangers: readonly string[], place: Place, findings: Findings): void {
  for (const pem of strangers) {
    const name = JSON.stringify(new Certificate(pem).subject)
    findings.warn(place, `the certificate of ${name} is not part of the chain: clients get it all the same`)
  }
}

function refuseAlone(one: Placed<string | null>, other: string, findings: Findings): void {
  if (one.value === null) return
  const pool = one.path.slice(0, one.path.lastIndexOf('.'))
  const more = other === 'key' ? ', in a setting or in the same file' : ''
  if (!findings.concern(stepInto(pool, other))) findings.flaw(one, `needs ${other} as well${more}`)
}

/** Returns the code of OpenSSL's error for the pair, null if it is good. */
function faultOf({ certificate, key }: TlsIdentity): string | null {
  try {
    createSecureContext({ cert: certificate, key })
    // OpenSSL compares only a key of the certificate's own type: it holds one pair per type, and treats
    // another key as half of a second pair.
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
    return isPair ? null : 'ERR_OSSL_X509_KEY_TYPE_MISMATCH'
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown reason'
  }
}
