// The settings of where clients connect: the listeners, and TLS on those that speak it.

import { cipherSuites } from '../config.ts'
import { endpoint } from './host-rules.ts'
import { durationOrOff, oneOf, truth } from './rules.ts'
import { group, list, mapping, optional, placed, required, scalar, shorthand, unwritten } from './shape.ts'
import { identity } from './tls-settings.ts'

const second = 1000
const day = 86_400 * second

const listener = shorthand(
  'address',
  mapping({
    address: required(placed(scalar(endpoint))),
    tls: optional(placed(scalar(truth)), unwritten('tls', false)),
  }),
)

export const listen = optional(list(listener, { least: 1 }), [
  { address: unwritten('listen', { host: '0.0.0.0', port: 8080 }), tls: unwritten('tls', false) },
])

/** What one zone asks of connections. */
export const zoneTls = group({
  redirect: optional(placed(scalar(truth)), unwritten('redirect', false)),
  hsts: optional(scalar(durationOrOff(second, 2 * 365 * day)), 0),
  min_version: optional(scalar(oneOf('1.2', '1.3')), '1.2' as const),
  ciphers: optional(list(scalar(oneOf(...cipherSuites))), []),
})

export const serverTls = group({
  // Unprinted, since a key may have been written in place of the mapping.
  certificates: optional(list(placed(mapping(identity, { unprinted: true }))), []),
  min_version: optional(scalar(oneOf('1.2', '1.3')), '1.2' as const),
})
