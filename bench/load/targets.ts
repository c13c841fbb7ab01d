// The speed that Gatehouse is meant to have, as rows of the report.
import type { FigureName } from '../figures/figures.ts'
import type { Interval } from '../interleaved/interval.ts'
import {
  ADMIN,
  BARE_READ,
  BARE_TLS,
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
  UNLOGGED,
} from './mixes.ts'
import {
  type Estimate,
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
  readonly bound: Bound
  readonly sense: 'at most' | 'at least'
  readonly unit: '×' | ' ms' | ' µs' | ' B' | ' KiB' | ' MB' | ' MiB' | ''
  /** The two that are compared, where it is a ratio of what ran side by side. */
  readonly compared?: readonly [subject: Subject, base: Subject]
  /** Processors that a machine must have, where its count matters. */
  readonly processors?: number
  /** Returns what was measured, or null where the run did not cover it. */
  measured(results: Results): Estimate | null
}

/** One for all processors, or one for those of AMD and one for all others: how much instructions and caches cost differs. */
export type Bound = number | { readonly amd: number; readonly others: number }

/** Whether a target is met by the whole interval, or missed by all of it; or whether that is open. */
export type Outcome = 'met' | 'missed' | 'undecided' | 'not measured'

export const TARGETS: readonly Target[] = [
  atMost('GET: CPU per request against nginx', { amd: 1.35, others: 1.6 }, own('get', 'cost'), nginx('get')),
  atMost(
    'POST: CPU per request against nginx',
    { amd: 1.4, others: 1.6 },
    own('post', 'cost'),
    nginx('post'),
  ),
  atMost('GET with the access log: CPU against the same without', 1.08, own('log', 'cost'), {
    peer: UNLOGGED,
    mix: 'log',
    metric: 'cost',
  }),
  atMost('1 MiB up: CPU per request against nginx', 1.15, own('upload', 'cost'), nginx('upload')),
  atMost('1 MiB down: CPU per request against nginx', 1.15, own('download', 'cost'), nginx('download')),
  ofProfile('1 MiB up: p99 against nginx', 1.3, '×', ({ tails }) => tails.up),
  ofProfile('1 MiB down: p99 against nginx', 1.5, '×', ({ tails }) => tails.down),
  ofProfile('GET, one at a time: p99 on top of that of nginx', 0.1, ' ms', ({ tails }) => tails.get),
  figure('GET, one connection back to back: p99 on top of that of nginx', 0.2, ' ms', 'getTail'),
  ofProfile(
    'Chat with token and log, one at a time: p99 on top of that of nginx',
    0.2,
    ' ms',
    ({ tails }) => tails.chat,
  ),
  figure(
    'Chat with token and log, one connection back to back: p99 on top of that of nginx',
    0.4,
    ' ms',
    'chatTail',
  ),
  atMost(
    'GET over TLS: CPU per request against nginx',
    { amd: 1.3, others: 1.5 },
    own('tls', 'cost'),
    nginx('tls'),
  ),
  atMost(
    'GET over HTTP/2 and TLS: CPU per request against nginx',
    { amd: 1.5, others: 1.8 },
    own('h2', 'cost'),
    nginx('h2'),
  ),
  atMost(
    'GET over HTTP/2 and TLS, 100 streams a connection: CPU per request against nginx',
    { amd: 0.7, others: 0.9 },
    own('streams', 'cost'),
    nginx('streams'),
  ),
  atMost('TLS handshakes, full: CPU against nginx', 1.25, own('full', 'cost'), nginx('full')),
  atMost('TLS handshakes, full: CPU against a bare server of Node', 1.1, own('full', 'cost'), bare('full')),
  atMost('TLS handshakes, resumed: CPU against nginx', 1.25, own('resumed', 'cost'), nginx('resumed')),
  atMost(
    'TLS handshakes, resumed: CPU against a bare server of Node',
    1.1,
    own('resumed', 'cost'),
    bare('resumed'),
  ),
  figure('Idle TLS connection: memory', 56, ' KiB', 'idleTls'),
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
  figure('npm start: resident memory', 110, ' MB', 'startMemory'),
  figure('GET: heap allocated a request', 1500, ' B', 'getHeap'),
  figure('Chat with token and log: heap allocated a request', 4000, ' B', 'chatHeap'),
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
  atMost('Chat with token and log: CPU against the same without both', 1.25, native('chat', 'cost'), {
    peer: OPEN,
    mix: 'chat',
    metric: 'cost',
  }),
  {
    ...ofProfile(
      'Chat with token, limit and log, 32 connections: requests a second against the same without',
      0.85,
      '×',
      ({ governed }) => estimateOf(governed[32]),
    ),
    sense: 'at least',
  },
  value('Chat with token, limit and log, 8 connections: CPU a request', 35, ' µs', ({ runs }) =>
    typical(runs, { peer: GOVERNED, mix: 'eight', metric: 'cost' }),
  ),
  {
    ...figure(
      'Chat with token, limit and log, one core: rate with p99 up to 1 ms against the highest rate',
      0.9,
      '×',
      'frontier',
    ),
    sense: 'at least',
  },
  value('Chat with token, limit and log, 256 connections: resident memory', 160, ' MiB', ({ profile }) =>
    memoryOf(profile, GOVERNED, '256 connections'),
  ),
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
    1.25,
    native('ttft', 'cost'),
    nginx('ttft'),
  ),
  value('100 streamed chats: added time to the first token, p99', 0.4, ' ms', ({ runs }) =>
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

/** Returns the bound that holds on a processor, by its name. */
export function boundOn(bound: Bound, processor: string): number {
  if (typeof bound === 'number') return bound
  return isAmd(processor) ? bound.amd : bound.others
}

export function isAmd(processor: string): boolean {
  return /\bAMD\b/.test(processor)
}

/** Says how a target came out; a value without an interval is taken as it is. */
export function outcomeOf({ bound: bounds, sense, measured }: Target, results: Results): Outcome {
  const found = measured(results)
  if (found === null) return 'not measured'
  const bound = boundOn(bounds, results.machine.processor)
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

function atMost(name: string, bound: Bound, subject: Subject, base: Subject): Target {
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
  of: (profile: NonNullable<Results['profile']>) => Estimate | undefined,
): Target {
  return {
    ...{ name, bound, sense: 'at most', unit },
    measured: ({ profile }) => (profile && of(profile)) ?? null,
  }
}

function figure(name: string, bound: number, unit: Target['unit'], of: FigureName): Target {
  return {
    ...{ name, bound, sense: 'at most', unit },
    measured: ({ figures }) => figures?.[of] ?? null,
  }
}

function estimateOf(interval: Interval | undefined): Estimate | undefined {
  return interval && { value: interval.ratio, low: interval.low, high: interval.high }
}

function memoryOf(profile: Results['profile'], peer: string, when: string): number | null {
  return profile?.gateways.find(gateway => gateway.peer === peer)?.memory[when] ?? null
}

function faster(peer: string, bound: number): Target {
  const base: Subject = { peer, mix: 'get', metric: 'rate' }
  return atLeast(`GET: requests a second against ${peer}`, bound, { subject: own('get', 'rate'), base })
}

function nginx(mix: MixName): Subject {
  return { peer: 'nginx', mix, metric: 'cost' }
}

function bare(mix: MixName): Subject {
  return { peer: BARE_TLS, mix, metric: 'cost' }
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
