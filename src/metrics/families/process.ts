// What Prometheus sees of the processes themselves, and of what they do beside requests.

import { byName, type Family, type Sample, sample } from './family.ts'
import type { Counts, StoreSigns } from '../counts.ts'

export const processFamilies: readonly Family[] = [
  {
    type: 'counter',
    name: 'gatehouse_domain_checks_total',
    help: 'Looks at DNS for the proof that the owner of an OAuth client owns its domain, by outcome.',
    read: ({ domainChecks }) => byName(domainChecks, outcome => ({ outcome })),
  },
  {
    type: 'counter',
    name: 'gatehouse_management_refusals_total',
    help: 'Requests to the management API that were refused with 401, 403 or 429, by reason.',
    read: ({ managementRefusals }) => byName(managementRefusals, reason => ({ reason })),
  },
  {
    type: 'gauge',
    name: 'gatehouse_store_up',
    help: 'Whether the store can be reached: 1 or 0.',
    read: ({ storeSigns }) => storeSample(storeSigns, ({ isAway }) => !isAway),
  },
  {
    type: 'gauge',
    name: 'gatehouse_store_writable',
    help: 'Whether the store takes writes, as far as known: 1 or 0. Redis refuses them while the replicas that must have them do not confirm, SQLite while the disk is full or another process keeps the file locked.',
    read: ({ storeSigns }) => storeSample(storeSigns, ({ isAway, refusal }) => !isAway && refusal === null),
  },
  {
    type: 'gauge',
    name: 'gatehouse_store_notices_up',
    help: 'Whether changes by other processes are announced by the store: 1, or 0 where they are noticed up to a second later.',
    read: ({ storeSigns }) => storeSample(storeSigns, ({ deafness }) => deafness === null),
  },
  {
    type: 'gauge',
    name: 'gatehouse_store_queued_writes',
    help: 'Writes that wait for the SQLite file.',
    read: ({ edge: { store } }) => [sample(store.queuedWrites)],
  },
  {
    type: 'counter',
    name: 'gatehouse_store_refused_writes_total',
    help: 'Writes refused because too many waited for the SQLite file (queue_full), or others held it for too long (locked).',
    read: ({ edge: { store } }) => byName(store.refusedWrites, reason => ({ reason })),
  },
  {
    type: 'counter',
    name: 'gatehouse_worker_restarts_total',
    help: 'Workers replaced after a crash.',
    read: ({ workerRestarts }) => [sample(workerRestarts)],
  },
  {
    type: 'counter',
    name: 'gatehouse_config_reloads_total',
    help: 'Reloads of the configuration, by result.',
    read: ({ reloads }) => [
      sample(reloads.success, { result: 'success' }),
      sample(reloads.failure, { result: 'failure' }),
    ],
  },
  {
    type: 'counter',
    name: 'gatehouse_log_lines_dropped_total',
    help: 'Lines of the log that nobody took in time.',
    read: ({ droppedLogLines }) => [sample(droppedLogLines)],
  },
  {
    type: 'gauge',
    name: 'gatehouse_build_info',
    help: 'Always 1; the labels tell what runs.',
    read: ({ version }) => [{ labels: { version, node: process.versions.node }, value: 1 }],
  },
]

/** Shows 1 or 0 in the process that is asked for the store. */
function storeSample(read: Counts['storeSigns'], holds: (signs: StoreSigns) => boolean): readonly Sample[] {
  if (read === null) return []
  const signs = read()
  return [{ labels: {}, value: signs === null || holds(signs) ? 1 : 0 }]
}
