// The settings of the listeners, and of TLS on them.

import { day, second } from '../../base/units.ts'
import type { Reading } from '../../base/text/quantity.ts'
import { auto, orAuto } from './acme-settings.ts'
import { cipherSuites } from '../model/config.ts'
import { endpoint } from '../shape/host-rules.ts'
import { certificates, durationOrOff, oneOf, revocationLists, truth, whole } from '../shape/rules.ts'
import {
  formed,
  group,
  list,
  mapping,
  oneOrMore,
  optional,
  placed,
  required,
  type Rule,
  scalar,
  shorthand,
  unwritten,
  type Value,
} from '../shape/shape.ts'
import { identity } from './tls-settings.ts'

const listener = shorthand(
  'address',
  mapping({
    address: required(placed(scalar(endpoint))),
    tls: optional(placed(scalar(truth)), unwritten('tls', false)),
    proxy_protocol: optional(placed(scalar(truth)), unwritten('proxy_protocol', false)),
    h2c: optional(placed(scalar(truth)), unwritten('h2c', false)),
  }),
)

export const listen = optional(list(listener, { min: 1 }), [
  {
    address: unwritten('listen', { host: '0.0.0.0', port: 8080 }),
    tls: unwritten('tls', false),
    proxy_protocol: unwritten('proxy_protocol', false),
    h2c: unwritten('h2c', false),
  },
])

/** In ms: off sends no header, 0 makes browsers forget it (RFC 6797 section 6.1.1). */
const hstsTime: Rule<number | null> = formed(readHstsTime, {
  words: ['off', '0'],
  pattern: '^\\d+(?:ms|s|m|h|d)$',
})

function readHstsTime(text: string): Reading<number | null> {
  if (text === '0') return { value: 0 }
  const reading = durationOrOff(second, 2 * 365 * day)(text)
  if ('flaw' in reading) return { flaw: `${reading.flaw}, or 0` }
  return { value: reading.value === 0 ? null : reading.value }
}

/** Client certificates. Unprinted, since a key may have been written in place of a certificate. */
const clientCertificates = mapping(
  {
    ca: required(oneOrMore(placed(scalar(certificates, { unprinted: true })), { min: 1 })),
    crl: optional(oneOrMore(placed(scalar(revocationLists, { unprinted: true }))), []),
    mode: optional(scalar(oneOf('required', 'optional')), 'required' as const),
    forward: optional(scalar(oneOf('subject', 'certificate', 'chain')), 'subject' as const),
  },
  { unprinted: true },
)

export type ClientCertificateSettings = Value<typeof clientCertificates>

export const http2 = group({
  enabled: optional(scalar(truth), true),
  max_concurrent_streams: optional(scalar(whole(1, 10_000)), 128),
  penalty: optional(scalar(durationOrOff(second / 10, 60 * second)), second),
})

export const zoneTls = group({
  redirect: optional(placed(scalar(truth)), unwritten('redirect', false)),
  hsts: optional(placed(scalar(hstsTime)), unwritten('hsts', null)),
  min_version: optional(scalar(oneOf('1.2', '1.3')), '1.2' as const),
  ciphers: optional(list(scalar(oneOf(...cipherSuites))), []),
  fips_algorithms: optional(scalar(truth), false),
  client_certificates: optional(placed(clientCertificates), null),
  auto: optional(placed(scalar<boolean | null>(truth)), unwritten<boolean | null>('auto', null)), // null: as tls.auto.zones says
})

const server = group({
  // Unprinted, since a key may have been written in place of the mapping.
  auto: optional(placed(auto), null),
  certificates: optional(list(placed(mapping(identity, { unprinted: true }))), []),
  min_version: optional(scalar(oneOf('1.2', '1.3')), '1.2' as const),
  public_port: optional(scalar(whole(1, 65_535)), null),
  fips: optional(scalar(truth), false),
})

export const serverTls = optional(orAuto(server.shape), server.fallback)
