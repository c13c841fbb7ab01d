// The kinds of traffic that the bench measures, in the order of the reports; mix.lua holds what wrk sends in each.
import type { Shown } from './call.ts'

export interface Mix {
  readonly title: string
  /** What the costs are counted by. */
  readonly unit: 'request' | 'event' | 'error' | 'handshake'
  /** The share of answers that are meant to have a status of 400 or more. */
  readonly refused: number
  /** What a reader of the table must know. */
  readonly note: string
  /** The names of those that are measured under it. */
  readonly peers: readonly string[]
  /** What its chats show at the door; null where it has no chats. */
  readonly shown: Shown | null
  /** Event streams that are open at once; none where wrk drives. */
  readonly streams: number
  /** Whether clients come over TLS. */
  readonly isTls?: true
  /** Connections that wrk holds, where they are not as many as elsewhere. */
  readonly connections?: number
  /** Streams that each connection has at a time over HTTP/2, by h2load; missing for HTTP/1.1. */
  readonly http2Streams?: number
}

/** Connections that wrk holds. */
export const CONNECTIONS = 64

/** Milliseconds between two events of a stream beyond which it counts as stalled. */
export const STALL = 1000

const PROXIES: readonly string[] = ['gatehouse', 'nginx', 'caddy', 'http-proxy-3', '@fastify/http-proxy']

/** The contestant on the AI routes that are named after a provider. */
export const NATIVE = 'gatehouse native'

/** The same route, with Redis as the store. */
export const NATIVE_IN_REDIS = 'gatehouse native Redis'

/** The same route, called with access tokens of OAuth. */
export const OAUTH = 'gatehouse oauth'

/** The same route, of a gateway that asks for no token and keeps no log. */
export const OPEN = 'gatehouse open'

/** The native route of a gateway with a token, a log and a rate limit. */
export const GOVERNED = 'gatehouse governed'

/** The route whose requests name provider and model in their body. */
export const REST = 'gatehouse REST'

/** The same route, whose requests name an alias of that model with a fallback. */
export const ALIAS = 'gatehouse alias'

/** Gatehouse that logs no accesses. */
export const UNLOGGED = 'gatehouse unlogged'

/** A server of node:tls and nothing else: what Node's part of a handshake costs. */
export const BARE_TLS = 'node:tls'

/** Gatehouse with so many workers, all of them measured by what comes through. */
export const ONE_WORKER = 'gatehouse 1 worker'
export const TWO_WORKERS = 'gatehouse 2 workers'

/** The contestants that stand before a provider. */
export const GATEWAYS: readonly string[] = [
  'gatehouse',
  OPEN,
  NATIVE,
  GOVERNED,
  OAUTH,
  REST,
  'portkey',
  'nginx',
]

/** The side port, and the floor of what a read of it can cost. */
export const ADMIN = 'gatehouse admin'
export const BARE_READ = 'node:http + Redis'

/** Gatehouse with rules that let every request of the bench pass. */
export const PASSING = {
  oneRule: 'gatehouse 1 rule',
  tenRules: 'gatehouse 10 rules',
  hundredRules: 'gatehouse 100 rules',
  list: 'gatehouse list',
  limit: 'gatehouse limit',
  /** No rules, and Redis as the store: what a limit in Redis is compared with. */
  redis: 'gatehouse Redis',
  limitInRedis: 'gatehouse limit Redis',
} as const

/** Gatehouse with one rule that refuses every request, by the code of the error. */
export const REFUSING = {
  address: 'gatehouse 1006',
  expression: 'gatehouse 1020',
  limit: 'gatehouse 1015',
  limitInRedis: 'gatehouse 1015 Redis',
} as const

const LOAD = { unit: 'request', refused: 0, note: '', peers: PROXIES, shown: null, streams: 0 } as const
const TLS_PEERS: readonly string[] = ['gatehouse', 'nginx']
const BODY_PEERS: readonly string[] = ['gatehouse', 'nginx', 'caddy']
const HANDSHAKES = {
  ...LOAD,
  unit: 'handshake',
  peers: [...TLS_PEERS, BARE_TLS] as readonly string[],
  isTls: true,
  note: 'Each on a connection of its own, which is opened and closed with it, 16 at once. p50 and p99 are those of the handshake. node:tls is a server that does nothing else.',
} as const
const CHAT = { ...LOAD, peers: GATEWAYS, shown: 'own' } as const
const REFUSED_CHAT = { ...CHAT, peers: [NATIVE] as readonly string[], refused: 1 } as const

export const MIXES = {
  get: { ...LOAD, title: 'GET, 244 bytes of JSON' },
  turns: {
    ...LOAD,
    title: 'GET, 244 bytes of JSON, of a thousand clients in turn',
    peers: [] as readonly string[],
  },
  log: {
    ...LOAD,
    title: 'GET, with the access log and without',
    peers: ['gatehouse', UNLOGGED] as readonly string[],
  },
  post: { ...LOAD, title: 'POST of 60 bytes, 244 bytes of JSON back' },
  mixed: { ...LOAD, title: 'GET, POST and a 404 in turn', refused: 1 / 3 },
  upload: { ...LOAD, title: 'POST of 1 MiB', peers: BODY_PEERS },
  download: { ...LOAD, title: 'GET of 1 MiB', peers: BODY_PEERS },
  workers: {
    ...LOAD,
    title: 'GET, with one and with two workers',
    peers: [ONE_WORKER, TWO_WORKERS] as readonly string[],
    note: 'The CPU is that of all processes. On machines with fewer than five processors, two for the workers and three for what they stand between, the rates say nothing of each other.',
  },
  tls: { ...LOAD, title: 'GET over TLS', peers: TLS_PEERS, isTls: true },
  h2: { ...LOAD, title: 'GET over HTTP/2 and TLS', peers: TLS_PEERS, isTls: true, http2Streams: 1 },
  streams: {
    ...LOAD,
    title: 'GET over HTTP/2 and TLS, 100 streams a connection',
    peers: TLS_PEERS,
    isTls: true,
    http2Streams: 100,
  },
  full: { ...HANDSHAKES, title: 'TLS 1.3 handshakes, full, ECDSA P-256' },
  resumed: { ...HANDSHAKES, title: 'TLS 1.3 handshakes, resumed' },
  sse: {
    ...LOAD,
    title: '500 event streams',
    unit: 'event',
    peers: ['gatehouse', 'nginx'] as readonly string[],
    streams: 500,
    note: 'p50 and p99 are the time to the first event that comes on top of that of the origin asked directly.',
  },
  down: {
    ...LOAD,
    title: 'Origin refuses connections',
    unit: 'error',
    refused: 1,
    note: 'Below one connect per error, requests that waited together share the refusal of one connection: cost and rate are then those of the sharing, and a lone request pays a whole connect.',
  },
  rules: {
    ...LOAD,
    title: 'GET, past rules',
    peers: ['gatehouse', ...Object.values(PASSING)] as readonly string[],
    note: 'gatehouse has no rules, and neither has gatehouse Redis; the others have so many access rules on addresses, networks, user agents and paths, one on a list of a million addresses, or a rate limit by address that is far away, with SQLite or Redis as the store.',
  },
  refused: {
    ...LOAD,
    title: 'GET, refused by a rule',
    unit: 'error',
    refused: 1,
    peers: Object.values(REFUSING) as readonly string[],
    note: '1006 is a rule on the address, 1020 an expression, 1015 a rate limit that is used up, with SQLite or Redis as the store.',
  },
  chat: {
    ...CHAT,
    title: 'chat completion, 300 bytes of JSON, 700 bytes back',
    note: 'gatehouse is a zone that proxies the same chats; open is the native AI route of a gateway that asks for no token and keeps no log; native and REST are AI routes with a token checked and bodies logged, as by default; governed is native with a rate limit on top, which is far away; oauth is native with an access token of OAuth. Their CPU is that of the log entries, too; entries that the queue had to drop cost nothing and are counted beside it.',
  },
  eight: {
    ...CHAT,
    title: 'chat completion over 8 connections',
    peers: [OPEN, GOVERNED] as readonly string[],
    connections: 8,
  },
  alias: {
    ...CHAT,
    title: 'chat completion, by its model and by an alias with a fallback',
    peers: [REST, ALIAS] as readonly string[],
    note: 'The fallback is never needed. A call with an alias is held until its content, and its caller learns of its attempts.',
  },
  unknown: {
    ...REFUSED_CHAT,
    title: 'chats refused, another unknown token each',
    peers: [NATIVE, NATIVE_IN_REDIS, OAUTH] as readonly string[],
    shown: 'unknown',
    note: 'The tokens are made up: they have the right form and checksum, and nobody was given them. gatehouse oauth is shown access tokens of OAuth.',
  },
  revoked: {
    ...REFUSED_CHAT,
    title: 'chats refused, another revoked access token each',
    peers: [OAUTH] as readonly string[],
    shown: 'revoked',
    note: 'The tokens were made by the gateway, so that the store is asked about each; of one that is shown again, a process knows that for some seconds.',
  },
  missing: { ...REFUSED_CHAT, title: 'chats refused, no token', shown: 'none' },
  ttft: {
    ...CHAT,
    title: '100 streamed chats of 50 tokens a second',
    unit: 'event',
    streams: 100,
    peers: ['gatehouse', NATIVE, 'nginx'] as readonly string[],
    note: "p50 and p99 are the time to the first token that comes on top of that of the origin asked directly. Portkey's gateway is not here, since as installed it answers every streamed chat with 500.",
  },
  steady: {
    ...CHAT,
    title: '512 streamed chats of 50 tokens a second, to their end',
    unit: 'event',
    streams: 512,
    peers: [NATIVE, 'nginx'] as readonly string[],
    note: 'p50 and p99 are the longest pause between two events of a stream.',
  },
  client: {
    ...LOAD,
    title: 'read of an OAuth client in Redis, 1 KiB of JSON',
    peers: [ADMIN, BARE_READ] as readonly string[],
    note: 'gatehouse admin checks a token, reads the record and writes it as the management API does; node:http + Redis is a bare handler with one GET.',
  },
} as const satisfies Record<string, Mix>

export type MixName = keyof typeof MIXES

export const MIX_NAMES = Object.keys(MIXES) as readonly MixName[]

/** The mixes whose times are measured in rounds, one contestant after the other. */
export const ROUND_MIXES = ['sse', 'ttft', 'steady'] as const satisfies readonly MixName[]

/** The mixes of AI gateways. */
export const AI_MIXES = MIX_NAMES.filter(name => MIXES[name].shown !== null)

export function isMixName(name: string): name is MixName {
  return Object.hasOwn(MIXES, name)
}
