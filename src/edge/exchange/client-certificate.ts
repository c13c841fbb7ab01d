// Client certificates: which ones a zone accepts, and what its origins learn about them.

import { authoritiesOf } from '../../certificates/client-trust.ts'
import type { ClientCertificates } from '../../config/model/config.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import { certificateFields } from '../../http1/fields/fields.ts'
import type { CertificateFault, ClientCertificate } from '../../tls/client-certificate.ts'
import type { Exchange } from './exchange.ts'
import type { EdgeZone } from '../snapshot/snapshot.ts'

/** Refuses a client without a required certificate, or with an invalid one (1017). */
export function refuseCertificate(x: Exchange, { config, trust }: EdgeZone): Refusal | null {
  const { tls } = x.client
  const isRequired = config.tls.client!.mode === 'required'
  if (tls === null) return isRequired ? refusals.plain : null
  const { certificate } = tls
  if (tls.trust !== trust) {
    if (!isRequired && certificate === null) return null
    // Only another handshake can request a certificate, or check it by the present authorities.
    x.keepAlive = false
    return refusals.elsewhere
  }
  if (certificate === null) return isRequired ? refusals.missing : null
  if (certificate.fault !== null) return refuseFor(certificate.fault, certificate.cause)
  return isValid(x, certificate) ? null : refusals.expired
}

/** Valid or not. */
export function certificateOf(x: Exchange): ClientCertificate | null {
  const { tls } = x.client
  if (tls === null || tls.certificate === null) return null
  // AI routes belong to no zone, but a zone may have the same host.
  const trust = x.zone === null ? x.snapshot.zones.find(tls.host)?.trust : x.zone.trust
  return tls.trust === trust ? tls.certificate : null
}

export function isValid(x: Exchange, { fault, notAfter }: ClientCertificate): boolean {
  return fault === null && notAfter >= x.plane.clock.now()
}

/** RFC 9440 section 2. */
export function certificateLines(x: Exchange): string {
  const client = x.zone === null ? null : x.zone.config.tls.client
  const certificate = client === null ? null : certificateOf(x)
  // The zone would have refused an invalid one.
  if (certificate === null) return ''
  const cached = cachedLines.get(certificate)
  if (cached?.forward === client!.forward) return cached.lines
  const lines = linesOf(certificate, client!)
  cachedLines.set(certificate, { forward: client!.forward, lines })
  return lines
}

type Forward = ClientCertificates['forward']

const cachedLines = new WeakMap<ClientCertificate, { readonly forward: Forward; readonly lines: string }>()

function linesOf(certificate: ClientCertificate, client: ClientCertificates): string {
  const { subject, fingerprint, der } = certificate
  const { forward } = client
  let lines = `${certificateFields.subject}: ${subject}\r\n${certificateFields.fingerprint}: ${fingerprint}\r\n`
  if (forward === 'subject') return lines
  lines += `${certificateFields.certificate}: ${byteSequence(der)}\r\n`
  const chain = forward === 'certificate' ? [] : certificate.chainTo(authoritiesOf(client))
  if (chain.length === 0) return lines
  return `${lines}${certificateFields.chain}: ${chain.map(byteSequence).join(', ')}\r\n`
}

/** RFC 9651 section 4.1.8. */
function byteSequence(bytes: Buffer): string {
  return `:${bytes.toString('base64')}:`
}

function refusing(heading: string, detail: string, guidance: string, code: string): Refusal {
  const wording = { heading, detail, guidance: `**Do not retry.** ${guidance}` }
  return refuse('client_certificate_rejected', { wording }, { code })
}

const advice = 'If you have none, request one from the operator of the site.'

const wordings: Readonly<Record<CertificateFault, { heading: string; detail: string; guidance: string }>> = {
  expired: {
    heading: 'Your client certificate has expired',
    detail: 'The certificate that your program presented, or one that leads to its issuer, has expired.',
    guidance: 'Request a new certificate from the operator of the site, and install it.',
  },
  not_yet_valid: {
    heading: 'Your client certificate is not valid yet',
    detail: 'The certificate that your program presented is valid from a later time on.',
    guidance: 'Wait until it is valid, or request another one from the operator of the site.',
  },
  revoked: {
    heading: 'Your client certificate was revoked',
    detail: 'The certificate that your program presented was revoked by its issuer.',
    guidance: 'Request a new certificate from the operator of the site.',
  },
  authority: {
    heading: 'Your client certificate is not of an accepted issuer',
    detail:
      'The certificate that your program presented was not issued by an authority that this site accepts.',
    guidance:
      'Select the certificate that you were given for this site, and have your program send the certificates between it and its authority.',
  },
  purpose: {
    heading: 'Your certificate is not one for clients',
    detail:
      'The certificate that your program presented was issued for another purpose than to identify clients.',
    guidance: 'Request a certificate for client authentication from the operator of the site.',
  },
  crl: {
    heading: 'Your client certificate could not be checked',
    detail:
      'The gateway has no current list of the certificates that the issuer of yours has revoked, so it accepts none of them.',
    guidance: 'Tell the operator of the site, who must renew that list.',
  },
  other: {
    heading: 'Your client certificate was not accepted',
    detail: 'The certificate that your program presented could not be verified.',
    guidance: 'Select the certificate that you were given for this site, or request another one.',
  },
}

const refusals = {
  plain: refusing(
    'This site requires a client certificate',
    'This site admits only clients that show a certificate, and your program connected without the encryption (TLS) in which it could show one.',
    `Use https, with the client certificate that you were given. ${advice}`,
    'GH_CERTIFICATE_PLAIN',
  ),
  missing: refusing(
    'This site requires a client certificate',
    'This site admits only clients that show a certificate, and your program presented none.',
    `Install the client certificate that you were given and select it when you connect. ${advice}`,
    'GH_CERTIFICATE_MISSING',
  ),
  elsewhere: refusing(
    'This connection cannot be used for this site',
    'This site checks the certificates of clients when they connect, and this connection was opened for another site, or before the site changed what it accepts.',
    'Connect again, with the name of the site in the TLS handshake (SNI) and the client certificate that you were given.',
    'GH_CERTIFICATE_OF_OTHER_RULES',
  ),
  expired: refuseFor('expired', 'CERT_HAS_EXPIRED'),
}

function refuseFor(fault: CertificateFault, cause: string | null): Refusal {
  const { heading, detail, guidance } = wordings[fault]
  return refusing(heading, detail, guidance, cause ?? '')
}
