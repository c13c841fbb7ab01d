// Prometheus metrics of the gateway's certificates, automatic ones included.

import { byName, type Families } from './family.ts'

export const certificateFamilies: Families = {
  gatehouse_tls_certificate_expiry_timestamp_seconds: {
    help: 'When each certificate of the TLS listeners expires, in Unix time, by its first name and the type of its key.',
    read: ({ certificates }) =>
      (certificates?.() ?? []).map(({ name, keyType, notAfter }) => ({
        labels: { name, key_type: keyType },
        value: notAfter / 1000,
      })),
    together: 'min',
  },
  gatehouse_tls_automatic_certificates: {
    help: 'Hosts of tls.auto, by state: valid, due (to be renewed), ordering, missing (no certificate yet), failing (the last order failed) or unreadable (sealed with an unknown key).',
    read: ({ automaticCertificates }) =>
      Object.entries(automaticCertificates?.() ?? {}).map(([state, value]) => ({ labels: { state }, value })),
    together: 'max',
  },
  gatehouse_tls_certificate_renewal_timestamp_seconds: {
    help: 'When the next certificate of each host of tls.auto is to be ordered, in Unix time; in the past while it is due.',
    read: ({ renewals }) =>
      (renewals?.() ?? []).map(({ host, renewAt }) => ({ labels: { name: host }, value: renewAt / 1000 })),
    together: 'max',
  },
  gatehouse_acme_orders_total: {
    help: 'Certificate orders that this gateway has ended, by result: issued, refused, rate_limited or unreachable.',
    read: ({ acmeOrders }) => byName(acmeOrders, result => ({ result })),
  },
}
