// The speed that Gatehouse is meant to have, as rows that report.ts prints with a tick or a cross.
import {
  ADMIN,
  BARE_READ,
  type MixName,
  NATIVE,
  NATIVE_IN_REDIS,
  OAUTH,
  OPEN,
  PASSING,
  REFUSING,
} from './mixes.ts'
import { type Metric, mostUnexpected, type Results, ratio, typical } from './results.ts'

export interface Target {
  readonly name: string
  readonly bound: number
  readonly sense: 'at most' | 'at least'
  readonly unit: '×' | ' ms' | ''
  /** Returns what was measured, or null where the run did not cover it. */
  measured(results: Results): number | null
}

export const TARGETS: readonly Target[] = [
  {
    name: 'GET: CPU per request against nginx',
    bound: 2.2,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'get', 'cost'),
  },
  {
    name: 'POST: CPU per request against nginx',
    bound: 2.6,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'post', 'cost'),
  },
  {
    name: 'GET over TLS: CPU per request against nginx',
    bound: 1.6,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'tls', 'cost'),
  },
  {
    name: 'GET over HTTP/2 and TLS: CPU per request against nginx',
    bound: 3,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'h2', 'cost'),
  },
  {
    name: 'GET over HTTP/2 and TLS, 100 streams a connection: CPU per request against nginx',
    bound: 3,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'streams', 'cost'),
  },
  {
    name: 'TLS handshakes, full: CPU against nginx',
    bound: 1.25,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'full', 'cost'),
  },
  {
    name: 'TLS handshakes, resumed: CPU against nginx',
    bound: 1.25,
    sense: 'at most',
    unit: '×',
    measured: against('nginx', 'resumed', 'cost'),
  },
  {
    name: 'GET: requests a second against http-proxy-3',
    bound: 2.4,
    sense: 'at least',
    unit: '×',
    measured: against('http-proxy-3', 'get', 'rate'),
  },
  {
    name: 'GET: requests a second against @fastify/http-proxy',
    bound: 2,
    sense: 'at least',
    unit: '×',
    measured: against('@fastify/http-proxy', 'get', 'rate'),
  },
  {
    name: 'GET: requests a second against Caddy',
    bound: 2,
    sense: 'at least',
    unit: '×',
    measured: against('caddy', 'get', 'rate'),
  },
  {
    name: 'Origin down, 64 waiting: CPU per error document against a proxied GET',
    bound: 1.5,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, own('down', 'cost'), own('get', 'cost')),
  },
  {
    name: 'SSE: added time to the first event, p50',
    bound: 1,
    sense: 'at most',
    unit: ' ms',
    measured: ({ runs }) => typical(runs, own('sse', 'p50')),
  },
  {
    name: 'Start to first answered request',
    bound: 500,
    sense: 'at most',
    unit: ' ms',
    measured: ({ startup }) => startup,
  },
  {
    name: 'Memory over 2 million requests: last quarter against the second',
    bound: 1.05,
    sense: 'at most',
    unit: '×',
    measured: ({ soak }) => soak && soak.lastQuarter / soak.secondQuarter,
  },
  {
    name: "Chat: requests a second a core against Portkey's gateway",
    bound: 20,
    sense: 'at least',
    unit: '×',
    measured: ({ runs }) =>
      ratio(runs, { peer: 'portkey', mix: 'chat', metric: 'cost' }, native('chat', 'cost')),
  },
  {
    name: 'Chat with token and log: CPU against the same without both',
    bound: 1.25,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, native('chat', 'cost'), { peer: OPEN, mix: 'chat', metric: 'cost' }),
  },
  {
    name: 'Chat with a token of OAuth: CPU against an API token',
    bound: 1.05,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, oauth('chat'), native('chat', 'cost')),
  },
  {
    name: 'Chat refused, unknown token: CPU against a proxied GET',
    bound: 0.7,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, native('unknown', 'cost'), own('get', 'cost')),
  },
  {
    name: 'Chat refused, unknown token, Redis: CPU against a proxied GET',
    bound: 0.7,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) =>
      ratio(runs, { peer: NATIVE_IN_REDIS, mix: 'unknown', metric: 'cost' }, own('get', 'cost')),
  },
  {
    name: 'Chat refused, unknown access token: CPU against a proxied GET',
    bound: 0.7,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, oauth('unknown'), own('get', 'cost')),
  },
  {
    name: 'Chat refused, no token: CPU against a proxied POST',
    bound: 1.2,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, native('missing', 'cost'), own('chat', 'cost')),
  },
  {
    name: '100 streamed chats: added time to the first token, p99',
    bound: 1,
    sense: 'at most',
    unit: ' ms',
    measured: ({ runs }) => typical(runs, native('ttft', 'p99')),
  },
  {
    name: '500 streamed chats: cut, stalled or lacking a token',
    bound: 0,
    sense: 'at most',
    unit: '',
    measured: ({ runs }) => mostUnexpected(runs, native('steady', 'cost')),
  },
  {
    name: 'Scan with 100,000 unknown tokens: memory after against before',
    bound: 1.1,
    sense: 'at most',
    unit: '×',
    measured: ({ scan }) => scan && scan.after / scan.before,
  },
  {
    name: 'OAuth client read: CPU against node:http with one GET of Redis',
    bound: 2,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) =>
      ratio(
        runs,
        { peer: ADMIN, mix: 'client', metric: 'cost' },
        { peer: BARE_READ, mix: 'client', metric: 'cost' },
      ),
  },
  past('10 access rules', PASSING.tenRules, 1.05),
  past('100 access rules', PASSING.hundredRules, 1.25),
  past('Rate limit, far away', PASSING.limit, 1.1),
  past('Rate limit in Redis, far away', PASSING.limitInRedis, 1.1, PASSING.redis),
  refused('an access rule on the address', REFUSING.address),
  refused('an expression', REFUSING.expression),
  refused('a rate limit', REFUSING.limit),
  refused('a rate limit in Redis', REFUSING.limitInRedis),
]

/** Says whether a target is met; null where it was not measured. */
export function isMet({ bound, sense, measured }: Target, results: Results): boolean | null {
  const value = measured(results)
  if (value === null) return null
  return sense === 'at most' ? value <= bound : value >= bound
}

function against(peer: string, mix: MixName, metric: Metric): Target['measured'] {
  return ({ runs }) => ratio(runs, own(mix, metric), { peer, mix, metric })
}

function own(mix: MixName, metric: Metric) {
  return { peer: 'gatehouse', mix, metric }
}

function native(mix: MixName, metric: Metric) {
  return { peer: NATIVE, mix, metric }
}

function oauth(mix: MixName) {
  return { peer: OAUTH, mix, metric: 'cost' } as const
}

/** Makes the target of a contestant whose rules let everybody pass, against the one without that has the same store. */
function past(what: string, peer: string, bound: number, without = 'gatehouse'): Target {
  return {
    name: `${what}: CPU against a GET without`,
    bound,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) =>
      ratio(runs, { peer, mix: 'rules', metric: 'cost' }, { peer: without, mix: 'rules', metric: 'cost' }),
  }
}

/** Makes the target of a contestant whose rule lets nobody pass. */
function refused(by: string, peer: string): Target {
  return {
    name: `Refused by ${by}: CPU against a proxied GET`,
    bound: 0.7,
    sense: 'at most',
    unit: '×',
    measured: ({ runs }) => ratio(runs, { peer, mix: 'refused', metric: 'cost' }, own('rules', 'cost')),
  }
}
