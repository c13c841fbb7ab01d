// The speed that Gatehouse is meant to have, as rows of the report.
import {
  ADMIN,
  BARE_READ,
  GOVERNED,
  type MixName,
  NATIVE,
  NATIVE_IN_REDIS,
  OAUTH,
  ONE_WORKER,
  OPEN,
  PASSING,
  REFUSING,
  ALIAS,
  REST,
  TWO_WORKERS,
} from './mixes.ts'
import {
  growth,
  intervalOf,
  type Metric,
  mostUnexpected,
  type Results,
  ratio,
  type Subject,
  typical,
} from './results.ts'

/** A speed that Gatehouse is meant to have. */
export interface Target {
  readonly name: string
  readonly bound: number
  readonly sense: 'at most' | 'at least'
  readonly unit: '×' | ' ms' | ''
  /** The two that are compared, where it is a ratio of what ran side by side. */
  readonly compared?: readonly [subject: Subject, base: Subject]
  /** Processors that a machine must have, where its count matters. */
  readonly processors?: number
  /** Returns what was measured, or null where the run did not cover it. */
  measured(results: Results): Estimate | null
}

/** A value, with the ends of its interval where it has one. */
export interface Estimate {
  readonly value: number
  readonly low?: number
  readonly high?: number
}

/** Whether a target is met by the whole interval, or missed by all of it; or whether that is open. */
export type Outcome = 'met' | 'missed' | 'undecided' | 'not measured'

export const TARGETS: readonly Target[] = [
  atMost('GET: CPU per request against nginx', 1.6, own('get', 'cost'), nginx('get')),
  atMost('POST: CPU per request against nginx', 1.7, own('post', 'cost'), nginx('post')),
  atMost('1 MiB up: CPU per request against nginx', 1.15, own('upload', 'cost'), nginx('upload')),
  atMost('1 MiB down: CPU per request against nginx', 1.15, own('download', 'cost'), nginx('download')),
  ofProfile('1 MiB up: p99 against nginx', 1.5, '×', ({ up }) => up),
  ofProfile('1 MiB down: p99 against nginx', 1.5, '×', ({ down }) => down),
  ofProfile('GET, one at a time: p99 on top of that of nginx', 0.1, ' ms', ({ get }) => get),
  ofProfile(
    'Chat with token and log, one at a time: p99 on top of that of nginx',
    0.2,
    ' ms',
    ({ chat }) => chat,
  ),
  atMost('GET over TLS: CPU per request against nginx', 1.6, own('tls', 'cost'), nginx('tls')),
  atMost('GET over HTTP/2 and TLS: CPU per request against nginx', 3, own('h2', 'cost'), nginx('h2')),
  atMost(
    'GET over HTTP/2 and TLS, 100 streams a connection: CPU per request against nginx',
    3,
    own('streams', 'cost'),
    nginx('streams'),
  ),
  atMost('TLS handshakes, full: CPU against nginx', 1.25, own('full', 'cost'), nginx('full')),
  atMost('TLS handshakes, resumed: CPU against nginx', 1.25, own('resumed', 'cost'), nginx('resumed')),
  faster('http-proxy-3', 2.4),
  faster('@fastify/http-proxy', 2),
  faster('caddy', 2),
  // Two for the workers, and three for their clients and their origin.
  withProcessors(
    5,
    atLeast('Two workers: requests a second against one', 1.9, {
      subject: workers(TWO_WORKERS, 'rate'),
      base: workers(ONE_WORKER, 'rate'),
    }),
  ),
  atMost(
    'Two workers: CPU per request against one',
    1.05,
    workers(TWO_WORKERS, 'cost'),
    workers(ONE_WORKER, 'cost'),
  ),
  atMost(
    'Origin down, 64 waiting: CPU per error document against a proxied GET',
    1.5,
    own('down', 'cost'),
    own('get', 'cost'),
  ),
  value('SSE: added time to the first event, p50', 1, ' ms', ({ runs }) => typical(runs, own('sse', 'p50'))),
  value('Start to first answered request', 500, ' ms', ({ startup }) => startup),
  value(
    'Memory over 5 million requests of every kind: resident at their end against after 2 million',
    1.05,
    '×',
    ({ soak }) => growth(soak, 'memory'),
  ),
  value(
    'Memory over 5 million requests of every kind: live heap at their end against after 2 million',
    1.05,
    '×',
    ({ soak }) => growth(soak, 'heap'),
  ),
  atLeast("Chat: requests a second a core against Portkey's gateway", 30, {
    subject: { peer: 'portkey', mix: 'chat', metric: 'cost' },
    base: native('chat', 'cost'),
  }),
  atMost('Chat with token and log: CPU against the same without both', 1.2, native('chat', 'cost'), {
    peer: OPEN,
    mix: 'chat',
    metric: 'cost',
  }),
  atLeast('Chat with token, limit and log: requests a second against the same without', 0.85, {
    subject: { peer: GOVERNED, mix: 'chat', metric: 'rate' },
    base: { peer: OPEN, mix: 'chat', metric: 'rate' },
  }),
  atMost(
    'Chat by REST, its model rewritten: CPU against native',
    1.1,
    { peer: REST, mix: 'chat', metric: 'cost' },
    native('chat', 'cost'),
  ),
  atMost(
    'Chat with an alias that has a fallback: CPU against the same by its model',
    1.05,
    { peer: ALIAS, mix: 'alias', metric: 'cost' },
    { peer: REST, mix: 'alias', metric: 'cost' },
  ),
  atMost('Chat with a token of OAuth: CPU against an API token', 1.05, oauth('chat'), native('chat', 'cost')),
  atMost(
    'Chat refused, unknown token: CPU against a proxied GET',
    0.7,
    native('unknown', 'cost'),
    own('get', 'cost'),
  ),
  atMost(
    'Chat refused, unknown token, Redis: CPU against a proxied GET',
    0.7,
    { peer: NATIVE_IN_REDIS, mix: 'unknown', metric: 'cost' },
    own('get', 'cost'),
  ),
  atMost(
    'Chat refused, unknown access token: CPU against a proxied GET',
    0.7,
    oauth('unknown'),
    own('get', 'cost'),
  ),
  atMost(
    'Chat refused, no token: CPU against a proxied POST',
    1.2,
    native('missing', 'cost'),
    own('chat', 'cost'),
  ),
  atMost(
    'Streamed chat with token and log: CPU per token against nginx',
    1.3,
    native('ttft', 'cost'),
    nginx('ttft'),
  ),
  value('100 streamed chats: added time to the first token, p99', 0.3, ' ms', ({ runs }) =>
    typical(runs, native('ttft', 'p99')),
  ),
  value('512 streamed chats: cut, stalled or lacking a token', 0, '', ({ runs }) =>
    mostUnexpected(runs, native('steady', 'cost')),
  ),
  value(
    'Scan with 100,000 unknown tokens: memory after against before',
    1.1,
    '×',
    ({ scan }) => scan && scan.after / scan.before,
  ),
  atMost(
    'OAuth client read: CPU against node:http with one GET of Redis',
    2,
    { peer: ADMIN, mix: 'client', metric: 'cost' },
    { peer: BARE_READ, mix: 'client', metric: 'cost' },
  ),
  past('10 access rules', PASSING.tenRules, 1.02),
  past('100 access rules', PASSING.hundredRules, 1.1),
  past('Rate limit, far away', PASSING.limit, 1.03),
  past('Rate limit in Redis, far away', PASSING.limitInRedis, 1.03, PASSING.redis),
  past('Redis as the store, which nothing uses', PASSING.redis, 1.01),
  refused('an access rule on the address', REFUSING.address),
  refused('an expression', REFUSING.expression),
  refused('a rate limit', REFUSING.limit),
  refused('a rate limit in Redis', REFUSING.limitInRedis),
]

/** Returns the targets that mean something on a machine with so many processors. */
export function targetsFor(count: number): readonly Target[] {
  return TARGETS.filter(({ processors = 1 }) => processors <= count)
}

/** Says how a target came out; a value without an interval is taken as it is. */
export function outcomeOf({ bound, sense, measured }: Target, results: Results): Outcome {
  const found = measured(results)
  if (found === null) return 'not measured'
  const { value, low = value, high = value } = found
  if (sense === 'at most' ? high <= bound : low >= bound) return 'met'
  return (sense === 'at most' ? low > bound : high < bound) ? 'missed' : 'undecided'
}

/** Returns a ratio of two that ran beside each other with its interval, or that of medians of rounds where they did not. */
function ratioOf(results: Results, subject: Subject, base: Subject): Estimate | null {
  const found = intervalOf(results, subject, base)
  if (found !== null) return { value: found.ratio, low: found.low, high: found.high }
  const value = ratio(results.runs, subject, base)
  return value === null ? null : { value }
}

function atMost(name: string, bound: number, subject: Subject, base: Subject): Target {
  return {
    ...{ name, bound, sense: 'at most', unit: '×', compared: [subject, base] },
    measured: results => ratioOf(results, subject, base),
  }
}

function atLeast(
  name: string,
  bound: number,
  { subject, base }: { subject: Subject; base: Subject },
): Target {
  return { ...atMost(name, bound, subject, base), sense: 'at least' }
}

function value(
  name: string,
  bound: number,
  unit: Target['unit'],
  measure: (results: Results) => number | null,
): Target {
  return {
    ...{ name, bound, sense: 'at most', unit },
    measured(results) {
      const value = measure(results)
      return value === null ? null : { value }
    },
  }
}

function ofProfile(
  name: string,
  bound: number,
  unit: Target['unit'],
  of: (tails: NonNullable<Results['profile']>['tails']) => Estimate | undefined,
): Target {
  return {
    ...{ name, bound, sense: 'at most', unit },
    measured: ({ profile }) => (profile && of(profile.tails)) ?? null,
  }
}

function faster(peer: string, bound: number): Target {
  const base: Subject = { peer, mix: 'get', metric: 'rate' }
  return atLeast(`GET: requests a second against ${peer}`, bound, { subject: own('get', 'rate'), base })
}

function nginx(mix: MixName): Subject {
  return { peer: 'nginx', mix, metric: 'cost' }
}

function own(mix: MixName, metric: Metric): Subject {
  return { peer: 'gatehouse', mix, metric }
}

/** Has a target measured only where a machine has so many processors. */
function withProcessors(processors: number, target: Target): Target {
  const isEnough = ({ machine }: Results) => Number.parseInt(machine.processor, 10) >= processors
  return {
    ...target,
    processors,
    measured: results => (isEnough(results) ? target.measured(results) : null),
  }
}

function workers(peer: string, metric: Metric): Subject {
  return { peer, mix: 'workers', metric }
}

function native(mix: MixName, metric: Metric): Subject {
  return { peer: NATIVE, mix, metric }
}

function oauth(mix: MixName): Subject {
  return { peer: OAUTH, mix, metric: 'cost' }
}

/** Makes the target of a contestant whose rules let everybody pass, against the one without that has the same store. */
function past(what: string, peer: string, bound: number, without = 'gatehouse'): Target {
  const [subject, base] = [peer, without].map(peer => ({ peer, mix: 'rules', metric: 'cost' }) as const)
  return atMost(`${what}: CPU against a GET without`, bound, subject!, base!)
}

/** Makes the target of a contestant whose rule lets nobody pass. */
function refused(by: string, peer: string): Target {
  const subject: Subject = { peer, mix: 'refused', metric: 'cost' }
  return atMost(`Refused by ${by}: CPU against a proxied GET`, 0.7, subject, own('rules', 'cost'))
}
