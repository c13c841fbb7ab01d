// What Prometheus sees of AI gateways.

import { byName, type Family } from './family.ts'

export const aiFamilies: readonly Family[] = [
  {
    type: 'counter',
    name: 'gatehouse_ai_decisions_total',
    help: 'Calls that AI gateways let in or refused, by result and reason.',
    read: ({ edge: { ai } }) => [
      ...byName(ai.allowed, reason => ({ result: 'allowed', reason })),
      ...byName(ai.refused, reason => ({ result: 'refused', reason })),
    ],
  },
  {
    type: 'counter',
    name: 'gatehouse_token_lookups_total',
    help: 'Tokens looked up, by where the answer came from: remembered, asked of the store, or asked since another worker told of it.',
    read: ({ edge: { ai } }) => byName(ai.lookups, source => ({ source })),
  },
  {
    type: 'counter',
    name: 'gatehouse_ai_keys_set_aside_total',
    help: 'Keys of providers that rest for a while, by the status with which the provider turned them away.',
    read: ({ edge: { ai } }) => byName(ai.keysSetAside, status => ({ status })),
  },
  {
    type: 'counter',
    name: 'gatehouse_ai_log_entries_total',
    help: 'Log entries of AI calls, by what became of them: written, dropped since the store was slow or away, or over the limit of the gateway.',
    read: ({ edge: { ai } }) => byName(ai.logEntries, result => ({ result })),
  },
]
