// Prometheus metrics of rate limits and quotas.

import { byName, type Families, gauge, sample } from './family.ts'

export const limitFamilies: Families = {
  gatehouse_rate_limit_decisions_total: {
    help: 'Requests counted by rate limits and quotas, by rule and result: allowed, limited, or logged where the rule only logs.',
    read: ({ edge }) =>
      [...edge.limits.rules].flatMap(([rule, { allowed, limited, logged }]) =>
        byName({ allowed, limited, logged }, result => ({ rule, result })),
      ),
  },
  gatehouse_rate_limit_store_calls_total: {
    help: 'Rate limit requests and reports to the store.',
    read: ({ edge }) => [sample(edge.limits.storeCalls)],
  },
  gatehouse_rate_limit_fallbacks_total: {
    help: 'Rate limit decisions made locally, because the store was slow or unreachable, or a limit had too many new keys.',
    read: ({ edge }) => [sample(edge.limits.fallbacks)],
  },
  gatehouse_rate_limits_differing: {
    help: 'Rules and quotas whose limits have differed between the machines on the store for more than five minutes. The log names the machines and their limits.',
    read: ({ limitDifferences }) => gauge(limitDifferences?.()),
    together: 'max',
  },
}
