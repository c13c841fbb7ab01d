// One data-plane process: obeys its supervisor, and outlives it only to finish running requests.

import '../system/v8.ts'
import '../system/thread-pool.ts'
import type { Server } from 'node:net'
import { systemClock } from '../../base/clock.ts'
import type { ListeningSocket, SocketHandle } from '../../net/socket/listening-socket.ts'
import { createLogger } from '../../log/log.ts'
import { Metrics } from '../../metrics/metrics.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import { Borrower } from '../../store/cache/cache-handover.ts'
import type { Seen } from '../../store/contract/mark.ts'
import type { Store } from '../../store/contract/store.ts'
import type { Tally } from '../../store/records/tally.ts'
import { BanMessages } from '../../access/bans/ban-messages.ts'
import { Bans } from '../../access/bans/bans.ts'
import { Share } from '../../edge/accept/connection-share.ts'
import type { PreparedConfig } from '../../edge/data-plane.ts'
import type { KeyedCheckResult } from '../../edge/origin/health/health-checker.ts'
import { LocalPlane } from '../plane/local-plane.ts'
import { logWarningsOfNode, openOutput } from '../terminal/log-output.ts'
import {
  type Ask,
  type FromWorker,
  numericLog,
  type Reply,
  type SocketPlace,
  type ToWorker,
} from './messages.ts'
import { usualSupervision } from './supervision.ts'
import { tuneV8 } from '../system/v8.ts'
import { Services } from '../services/services.ts'
import { version } from '../system/version.ts'

const metrics = new Metrics(version)
// Needed before the configuration arrives, since lines may be logged before.
const isNumeric = process.argv.includes(numericLog)
const destination = openOutput(metrics.droppedLogLines, isNumeric)
const log = createLogger('info', destination, isNumeric)
logWarningsOfNode(log)
// The supervisor sums the refusals of all workers.
const post = new BanMessages(refusals => tell({ refusals }))
const bans = new Bans(systemClock, { noted: (id, key, refusals) => post.add(id, key, refusals) })
const borrower = new Borrower((as, borrow) => void tell({ borrow, as }))
let { orphanGrace, lastWords } = usualSupervision
let services: Services | null = null
let plane: LocalPlane | null = null
let next: Next | null = null
let share = new Share()
const sockets: ListeningSocket[] = []
let starting: Promise<readonly Listener[]> | null = null

process.on('message', async ({ id, ask }: ToWorker, handle?: unknown) => {
  tell(
    await reply(ask, handle as SocketHandle).then(
      value => ({ id, value }),
      (cause: unknown) => ({ id, error: cause instanceof Error ? cause.message : String(cause) }),
    ),
  )
})
// Without a supervisor warnings have no reader; running requests are finished all the same.
process.stderr.on('error', () => {})
process.on('disconnect', () => void leave(orphanGrace))
process.on('uncaughtException', bug => void crash(bug))
// A terminal sends these to the whole process group: the supervisor gets them too, and decides.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})

type Handlers = {
  readonly [Kind in Ask['kind']]: (
    ask: Extract<Ask, { kind: Kind }>,
    handle: SocketHandle,
  ) => Reply<Kind> | Promise<Reply<Kind>>
}

const handlers: Handlers = {
  socket: ({ place }, handle) => void sockets.push({ ...place, handle }),
  adopt: ({ place }, handle) => plane!.adopt({ ...place, handle }),
  release: ({ place }) => plane!.release(place),
  start: ask => (starting = start(ask)),
  prepare: async ({ config }) => {
    // It may arrive while this process starts with the previous configuration.
    await starting
    next = { config, plane: await plane!.prepare(config) }
  },
  commit: ({ checks }) => commit(next!, checks),
  discard: () => {
    next?.plane.discard()
    next = null
  },
  drain: ({ grace }) => void setImmediate(leave, grace),
  cut: () => plane?.destroy(),
  checks: ({ results }) => plane!.takeChecks(results),
  certificates: ({ automatic }) => plane!.takeCertificates(automatic),
  bans: ({ bans: news }) => bans.impose(news),
  tickets: ({ keys }) => plane!.takeTicketKeys(keys),
  trust: async ({ seen }) => {
    await starting
    services!.store.trust.expect(seen)
  },
  found: ({ keys }) => services!.hearFound(keys),
  lend: ({ found: key }) => services!.lend(key),
  lent: ({ id, loan }) => borrower.settle(id, loan),
  share: ({ moved }) => share.begin(moved),
  grant: ({ key, count }) => share.grant(key, count),
  claim: ({ claim }) => plane?.leaveShare(claim) ?? 0,
  ping: () => {},
  pools: async () => (await plane!.pools()).flat(),
  providers: async () => (await plane!.providers()).flat(),
  limits: async ({ names }) => (await plane!.nearLimits(names)).flat(),
  explain: ({ request }) => plane!.explain(request),
  snapshot: () => metrics.snapshot(),
}

/** Runs the handler of a message; async, so that what it throws becomes a reply. */
async function reply<Kind extends Ask['kind']>(ask: Extract<Ask, { kind: Kind }>, handle: SocketHandle) {
  const handler = handlers[ask.kind as Kind] as Handlers[Kind]
  return handler(ask, handle)
}

interface Next {
  readonly config: Config
  readonly plane: PreparedConfig
}

function commit({ config, plane }: Next, checks: readonly KeyedCheckResult[]): void {
  plane.commit(checks)
  services!.reload(config)
  next = null
}

async function start(ask: Ask & { kind: 'start' }): Promise<readonly Listener[]> {
  const { config, documentation, sidePort, checks, ticketKeys, openFiles } = ask
  ;({ orphanGrace, lastWords } = ask)
  share = new Share({ ...ask, send: wants => void tell({ wants }) })
  log.level = config.log.level
  services = await Services.open(config, {
    metrics: metrics.edge,
    log,
    joins: openFiles,
    sidePort: () => sidePort.endpoint,
    keeper: { open: store => obey(store, ask.seen), close: () => {} },
    tellFound: keys => tell({ found: keys }),
    borrow: (key, isFound) => borrower.ask(key, isFound),
  })
  const tallied = (tallies: readonly Tally[]) => tell({ tallies })
  const parts = { documentation, sidePort, metrics, destination, log, services, bans, share, tallied }
  plane = new LocalPlane(config, { ...parts, reusePort: true })
  plane.takeChecks(checks)
  if (ticketKeys !== null) plane.takeTicketKeys(ticketKeys)
  await plane.takeCertificates(ask.automatic)
  bans.keep(config)
  bans.impose(ask.bans)
  const listeners = await plane.listen(sockets, ask.slot)
  tuneV8()
  for (const socket of plane.sockets) if (!sockets.includes(socket)) await tellBound(socket)
  return listeners
}

function obey({ trust, degradation }: Store, seen: Seen | null): void {
  if (seen !== null) trust.expect(seen)
  degradation.follow(() => {
    if (trust.isDoubted) void tell({ doubts: trust.seen! })
  })
}

/** Passes a socket to the supervisor too: the queue of its port must not end with this process. */
function tellBound({ handle, ...place }: ListeningSocket): Promise<void> {
  return tell({ bound: place satisfies SocketPlace }, handle)
}

async function leave(grace: number): Promise<void> {
  await plane?.drain(grace)
  await services?.close().catch((cause: unknown) => log.error({ err: cause }, 'closing the store failed'))
  await tell({ last: await metrics.snapshot() })
  await destination.drain(lastWords)
  process.exit(0)
}

/** The process can be trusted with nothing more than its counts. */
async function crash(bug: unknown): Promise<void> {
  log.fatal({ err: bug }, 'worker crashed: internal error')
  plane?.destroy()
  setTimeout(() => process.exit(1), lastWords)
  await tell({ last: await metrics.snapshot() })
  await destination.drain(lastWords)
  process.exit(1)
}

function tell(message: FromWorker, handle?: SocketHandle): Promise<void> {
  return new Promise(resolve => {
    if (process.connected) process.send!(message, handle as Server | undefined, undefined, () => resolve())
    else resolve()
  })
}
