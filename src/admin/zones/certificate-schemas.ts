// Schemas of the certificates of a zone in responses.

import { hostCertificateStates } from '../../certificates/host-certificates.ts'
import { about, listOf, oneOf, open, orNull, text, time, whole } from '../schema/schema.ts'

export const certificate = open({
  host: text,
  source: about(
    'A file of the configuration, or an authority by ACME; null where no certificate is good for the host.',
    orNull(oneOf(['file', 'acme'])),
  ),
  status: about(
    '`due`: to be renewed; `ordering`: an order is under way; `missing`: there is none yet; `failing`: the last order failed, and the certificate before is kept while it lasts; `unreadable`: its key is sealed with an unknown key; `not_yet_valid`: clients refuse it until its time comes.',
    oneOf(hostCertificateStates),
  ),
  subject: about('As RFC 4514 writes it, such as `CN=shop.example`; null where there is none.', orNull(text)),
  issuer: orNull(text),
  names: about('The hosts that it is good for.', listOf(text)),
  expires_on: orNull(time),
  issued_on: about('Of an automatic one.', orNull(time)),
  next_attempt_at: about(
    'When the next one is ordered; null for as soon as possible, and for files.',
    orNull(time),
  ),
  consecutive_failures: whole(0),
  last_error: about(
    'Why the last order failed, as the authority says it.',
    orNull(open({ at: time, message: text })),
  ),
})
