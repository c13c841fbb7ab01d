// Prometheus metrics of the processes themselves, and of their work besides requests.

import { byName, type Families, gauge, type Sample, sample } from './family.ts'
import { type Counts, degradedCodes, type StoreHealth } from '../counters/counts.ts'

export const processFamilies: Families = {
  gatehouse_domain_checks_total: {
    help: 'DNS checks of the domains of OAuth clients, by outcome.',
    read: ({ domainChecks }) => byName(domainChecks, outcome => ({ outcome })),
  },
  gatehouse_management_refusals_total: {
    help: 'Management API requests refused with 401, 403 or 429, by reason.',
    read: ({ managementRefusals }) => byName(managementRefusals, reason => ({ reason })),
  },
  gatehouse_side_port_connections_refused_total: {
    help: 'Connections to the side port refused because they would take too many file descriptors.',
    read: ({ refusedOperators }) => [sample(refusedOperators)],
  },
  gatehouse_store_up: {
    help: 'Whether the store is reachable: 1 or 0.',
    read: ({ storeHealth }) => storeSample(storeHealth, ({ isUnreachable }) => !isUnreachable),
    together: 'min',
  },
  gatehouse_store_writable: {
    help: 'Whether the store confirms writes, as far as known: 1 or 0. Redis does not while its memory is full, its disk too slow, or a required replica missing or behind, SQLite while the disk is full or another process locks the file.',
    read: ({ storeHealth }) =>
      storeSample(storeHealth, ({ isUnreachable, refusal }) => !isUnreachable && refusal === null),
    together: 'min',
  },
  gatehouse_store_notices_up: {
    help: 'Whether the store announces changes by other processes: 1, or 0 if they are noticed up to a second later.',
    read: ({ storeHealth }) => storeSample(storeHealth, ({ deafness }) => deafness === null),
    together: 'min',
  },
  gatehouse_store_degraded: {
    help: 'Whether the store responds but is not trusted, by reason: 1 or 0. The gateway then serves with what it knows and confirms no change.',
    read: ({ storeHealth }) => degradedSamples(storeHealth),
    together: 'max',
  },
  gatehouse_store_queued_writes: {
    help: 'Writes queued for the SQLite file.',
    read: ({ edge: { store } }) => [sample(store.queuedWrites)],
  },
  gatehouse_store_refused_writes_total: {
    help: 'Writes refused because the queue for the SQLite file was full (queue_full), or other processes held it for too long (locked).',
    read: ({ edge: { store } }) => byName(store.refusedWrites, reason => ({ reason })),
  },
  gatehouse_tls_client_trust_expiry_timestamp_seconds: {
    help: 'When authorities of client certificates and their revocation lists expire, in Unix time, by kind and name.',
    read: ({ clientTrust }) =>
      (clientTrust?.() ?? [])
        .filter(({ notAfter }) => Number.isFinite(notAfter))
        .map(({ kind, name, notAfter }) => ({ labels: { kind, name }, value: notAfter / 1000 })),
    together: 'min',
  },
  gatehouse_tls_ticket_key_start_timestamp_seconds: {
    help: 'Since when the key that seals TLS sessions is in use, in Unix time.',
    read: ({ ticketKeys }) => {
      const key = ticketKeys?.()
      return gauge(key && key.since / 1000)
    },
    together: 'max',
  },
  gatehouse_tls_ticket_key_shared: {
    help: 'Whether the key that seals TLS sessions is that of the store: 1, or 0 if this gateway alone has it.',
    read: ({ ticketKeys }) => {
      const key = ticketKeys?.()
      return gauge(key && Number(key.isShared))
    },
    together: 'min',
  },
  gatehouse_worker_restarts_total: {
    help: 'Workers replaced after a crash or a hang.',
    read: ({ workerRestarts }) => [sample(workerRestarts)],
  },
  gatehouse_config_reloads_total: {
    help: 'Reloads of the configuration, by result.',
    read: ({ reloads }) => byName(reloads, result => ({ result })),
  },
  gatehouse_upgrades_total: {
    help: 'Upgrades to a new process, by result.',
    read: ({ upgrades }) => byName(upgrades, result => ({ result })),
  },
  gatehouse_log_lines_dropped_total: {
    help: 'Log lines dropped because the log could not be written in time: its reader was too slow, or gone, or the disk full.',
    read: ({ droppedLogLines }) => [sample(droppedLogLines)],
  },
  gatehouse_telemetry_spans_total: {
    help: 'Spans of sampled requests, by result: exported, or dropped since the queue was full or the export failed.',
    read: ({ edge }) => byName(edge.spans, result => ({ result })),
  },
  gatehouse_build_info: {
    help: 'Always 1; the labels identify the build.',
    read: ({ version }) => [{ labels: { version, node: process.versions.node }, value: 1 }],
  },
}

function storeSample(read: Counts['storeHealth'], holds: (signs: StoreHealth) => boolean): readonly Sample[] {
  if (read === null) return []
  const signs = read()
  return [{ labels: {}, value: signs === null || holds(signs) ? 1 : 0 }]
}

function degradedSamples(read: Counts['storeHealth']): readonly Sample[] {
  if (read === null) return []
  const reasons = new Set(read()?.degradation.reasons.map(({ code }) => code))
  return degradedCodes.map(reason => ({ labels: { reason }, value: reasons.has(reason) ? 1 : 0 }))
}
