// Reads a request to explain: valid or not, since the gateway is to judge it.

import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { RequestInQuestion } from '../../zones/explanation.ts'
import { isCertificate } from '../../tls/pem.ts'
import { Field } from '../http/field.ts'
import { ipAddress, readHeaderFields } from '../http/header-fields.ts'

/** Maximum of characters of method, path and host: beyond what the gateway accepts by default. */
export const maxLineLength = 64 * 1024
/** Maximum of characters of a body, and of bytes of one that is not given. */
export const maxBodyLength = 256 * 1024
export const maxBodySize = 2 ** 40
export const maxCertificateLength = 64 * 1024

type Request = Omit<RequestInQuestion, 'zone' | 'account'>

/** Reads a question, or lists its faults; the default is a plain GET of `/`. */
export function readQuestion(body: unknown): Request | readonly Fault[] {
  const faults: Fault[] = []
  const fields = new Field(body, faults).members(
    ['host', 'address'],
    ['path', 'method', 'headers', 'body', 'body_size', 'client_certificate'],
  )
  const request: Request = {
    host: fields.host.ruled(lineFault),
    address: fields.address.by(ipAddress) ?? '',
    target: fields.path.ruled(lineFault) ?? '/',
    method: fields.method.ruled(lineFault) ?? 'GET',
    headers: readHeaderFields(fields.headers),
    body: fields.body.ruled(bodyFault),
    bodySize: fields.body_size.integer(0, maxBodySize),
    clientCertificate: fields.client_certificate.ruled(certificateFault),
  }
  if (request.body !== null && request.bodySize !== null)
    fields.body_size.refuse('must be left out where body is given')
  return faults.length > 0 ? faults : request
}

function lineFault(text: string): string | null {
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return text.length <= maxLineLength && /^[^\r\n\0]*$/.test(text)
    ? null
    : `must be one line of at most ${maxLineLength} characters`
}

function certificateFault(text: string): string | null {
  return text.length <= maxCertificateLength && isCertificate(text)
    ? null
    : `must be a certificate in PEM of at most ${maxCertificateLength} characters`
}

function bodyFault(text: string): string | null {
  if (!text.isWellFormed()) return 'must not contain lone surrogates'
  return text.length <= maxBodyLength ? null : `must be text of at most ${maxBodyLength} characters`
}
