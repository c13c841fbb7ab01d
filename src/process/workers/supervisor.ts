// Manages the workers: replaces those that crash or hang, reloads all of them, and sums their counts.

import { once } from 'node:events'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { ListeningSocket } from '../../net/socket/listening-socket.ts'
import type { Logger } from '../../log/log.ts'
import { type Metrics, remains, type Snapshot } from '../../metrics/metrics.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import { type AnnouncedKey, LatestKeys } from '../../store/cache/announced-keys.ts'
import { freshest, type Loan } from '../../store/cache/cache-handover.ts'
import type { Seen } from '../../store/contract/mark.ts'
import type { StoreTrust } from '../../store/contract/store.ts'
import type { Tally } from '../../store/records/tally.ts'
import { BanMessages } from '../../access/bans/ban-messages.ts'
import { type BanNews, Bans } from '../../access/bans/bans.ts'
import { type AutomaticTls, nothingAutomatic } from '../../certificates/acme/automatic.ts'
import { checkKeys, type KeyedCheckResult } from '../../edge/origin/health/health-checker.ts'
import type { TicketKeySet } from '../../tls/ticket-keys.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { ShareRequest } from '../../edge/accept/connection-share.ts'
import type { SidePort } from '../../edge/snapshot/plane.ts'
import type { ProviderInProcess } from '../../edge/ai/provider-states.ts'
import type { PoolState } from '../../edge/origin/pools.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'
import type { Services } from '../services/services.ts'
import type { ManagedPlane, PreparedEverywhere } from '../plane/managed-plane.ts'
import type { Ask, Reply } from './messages.ts'
import { ShareLedger } from './share-ledger.ts'
import { SharedSockets } from './shared-sockets.ts'
import { backoff, type Supervision, usualSupervision } from './supervision.ts'
import { Unanswered, type WorkerEnd, WorkerHandle } from './worker-handle.ts'

interface SupervisorParts {
  readonly documentation: string | null
  readonly sidePort: SidePort
  /** Outlives the workers. */
  readonly cache?: Pick<Services, 'loans' | 'hearFound' | 'lend'>
  readonly tallied?: (tallies: readonly Tally[]) => void
  /** `Store.openFiles` of the gateway: workers open these files of the store, and create none. */
  readonly openFiles?: string | null
  /** Without it, each worker takes the store as it is. */
  readonly trust?: StoreTrust
  readonly metrics: Metrics
  readonly log: Logger
  readonly clock?: Clock
  readonly supervision?: Partial<Supervision>
  /** The path of what a worker runs, by default `edge-worker` beside the code of the supervisor. */
  readonly program?: string | undefined
}

export class Supervisor implements ManagedPlane {
  readonly #count: number
  readonly #parts: SupervisorParts
  readonly #clock: Clock
  readonly #timeouts: Supervision
  readonly #workers = new Set<WorkerHandle>()
  readonly #up = new Set<WorkerHandle>()
  readonly #hung = new WeakSet<WorkerHandle>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  readonly #destroy = () => this.destroy()
  readonly #checks = new Map<string, KeyedCheckResult>()
  readonly #bans: Bans
  #ticketKeys: TicketKeySet | null = null
  readonly #found = new LatestKeys()
  #automatic: AutomaticTls = nothingAutomatic
  #config: Config
  #sockets: SharedSockets
  readonly #shares: ShareLedger
  #isListening = false
  #isEnding = false
  #heartbeat: NodeJS.Timeout | undefined
  #pings = 0
  #ended: Promise<Snapshot> = Promise.resolve([])

  constructor(count: number, config: Config, parts: SupervisorParts) {
    this.#count = count
    this.#config = config
    this.#sockets = new SharedSockets(count)
    this.#parts = parts
    this.#clock = parts.clock ?? systemClock
    this.#timeouts = { ...usualSupervision, ...parts.supervision }
    this.#shares = new ShareLedger(count, this.#timeouts.shareTimeout)
    const post = new BanMessages(bans => this.#tellBans(bans))
    this.#bans = new Bans(this.#clock, { banned: (id, key, lasts) => post.add(id, key, lasts) })
    this.#bans.keep(config)
    parts.trust?.follow(() => this.#tellTrust([...this.#up]))
    for (const { found: key } of parts.cache?.loans ?? []) this.#found.add(key)
    process.once('exit', this.#destroy)
  }

  get isUp(): boolean {
    return this.#up.size > 0
  }

  get sockets(): readonly ListeningSocket[] {
    return this.#sockets.all
  }

  /** The first worker alone validates the configuration, and determines the ports that the others share. */
  async listen(sockets: readonly ListeningSocket[] = []): Promise<readonly Listener[]> {
    if (this.#isEnding) throw new Unanswered('stopped before there were workers')
    this.#sockets = new SharedSockets(this.#count, sockets)
    this.#heartbeat = setInterval(() => this.#ping(), this.#timeouts.heartbeat).unref()
    const listen = await this.#start(0, 0)
    this.#config = { ...this.#config, listen }
    await Promise.all(Array.from({ length: this.#count - 1 }, (_, i) => this.#start(i + 1, 0)))
    this.#isListening = true
    this.#cover()
    return listen
  }

  /**
   * When one worker cannot, all discard it; one that ends or hangs is replaced. Without any worker, the
   * configuration is for those that start next: it may be what ends a crash loop.
   */
  async prepare(config: Config): Promise<PreparedEverywhere> {
    const next = { ...config, listen: this.#config.listen }
    const workers = [...this.#workers]
    const prepared = new Set<WorkerHandle>()
    const outcomes = await Promise.allSettled(
      workers.map(async worker => {
        await worker.demand({ kind: 'prepare', config: next }, this.#timeouts.reloadTimeout)
        prepared.add(worker)
      }),
    )
    const causes = outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason] : []))
    const refusal = causes.find(cause => !(cause instanceof Unanswered))
    const isProven = prepared.size > 0 || workers.length === 0
    if (refusal === undefined && isProven) return { commit: checks => this.#commit(next, prepared, checks) }
    for (const worker of prepared) worker.ask({ kind: 'discard' }).catch(ignore)
    throw refusal ?? new Error('no worker was able to prepare the configuration')
  }

  async drain(grace: number): Promise<void> {
    this.#end()
    const cut = setTimeout(this.#destroy, grace + this.#timeouts.drainSlack)
    await Promise.all([...this.#workers].map(worker => this.#retire(worker, grace)))
    clearTimeout(cut)
    process.off('exit', this.#destroy)
  }

  async cut(): Promise<void> {
    this.#end()
    // The system closes the connections of a killed process with a FIN, as at the end of a response.
    const cuts = [...this.#workers].map(worker => worker.demand({ kind: 'cut' }, this.#timeouts.cutTimeout))
    await Promise.allSettled(cuts)
    this.destroy()
  }

  destroy(): void {
    this.#end()
    for (const worker of this.#workers) worker.kill()
  }

  takeChecks(results: readonly KeyedCheckResult[]): void {
    for (const result of results) this.#checks.set(result.key, result)
    for (const worker of this.#up) worker.ask({ kind: 'checks', results }).catch(ignore)
  }

  takeTicketKeys(keys: TicketKeySet): void {
    this.#ticketKeys = keys
    for (const worker of this.#up) worker.ask({ kind: 'tickets', keys }).catch(ignore)
  }

  async takeCertificates(automatic: AutomaticTls): Promise<void> {
    this.#automatic = automatic
    const late = once(AbortSignal.timeout(this.#timeouts.viewTimeout), 'abort')
    const replies = [...this.#up].map(worker => worker.ask({ kind: 'certificates', automatic }).catch(ignore))
    await Promise.race([Promise.all(replies), late])
  }

  pools(): Promise<readonly (readonly PoolState[])[]> {
    return this.#views({ kind: 'pools' })
  }

  providers(): Promise<readonly (readonly ProviderInProcess[])[]> {
    return this.#views({ kind: 'providers' })
  }

  nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]> {
    return this.#views({ kind: 'limits', names })
  }

  /** Asks the worker that has been up longest, then the next one if it does not reply in time. */
  async explain(request: RequestInQuestion): Promise<Explained | null> {
    for (const worker of [...this.#up]) {
      const late = once(AbortSignal.timeout(this.#timeouts.viewTimeout), 'abort').then(() => null)
      const reply = worker.ask({ kind: 'explain', request }).catch(unlessUnanswered)
      const explained = await Promise.race([reply, late])
      if (explained !== null) return explained
    }
    return null
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    // Both are read at once: a worker that ends while they are read counts once, among the living.
    const [workers, ended] = [[...this.#workers], this.#ended]
    const living = await Promise.all(workers.map(worker => worker.snapshot()))
    return [...living.filter(snapshot => snapshot !== null), await ended]
  }

  async #commit(
    config: Config,
    prepared: ReadonlySet<WorkerHandle>,
    checks: readonly KeyedCheckResult[],
  ): Promise<void> {
    this.#config = config
    this.#bans.keep(config)
    const wanted = checkKeys(config)
    for (const key of this.#checks.keys()) if (!wanted.has(key)) this.#checks.delete(key)
    for (const result of checks) this.#checks.set(result.key, result)
    const { reloadTimeout } = this.#timeouts
    const follow = async (worker: WorkerHandle) => {
      // A worker that has started since has the previous configuration.
      if (!prepared.has(worker)) await worker.demand({ kind: 'prepare', config }, reloadTimeout)
      await worker.demand({ kind: 'commit', checks }, reloadTimeout)
    }
    await Promise.all([...this.#workers].map(worker => follow(worker).catch(() => worker.kill())))
    // A configuration may change the limits on connections, and thereby their even parts.
    await this.#shares.settle()
  }

  #views<A extends Ask & { kind: 'pools' | 'providers' | 'limits' }>(ask: A): Promise<Reply<A['kind']>[]> {
    const late = once(AbortSignal.timeout(this.#timeouts.viewTimeout), 'abort').then(() => [])
    const views = [...this.#up].map(worker => worker.ask(ask).catch(() => []))
    return Promise.all(views.map(view => Promise.race([view, late]))) as Promise<Reply<A['kind']>[]>
  }

  #cover(): void {
    if (this.#isListening && !this.#isEnding) this.#sockets.cover([...this.#up])
  }

  #end(): void {
    this.#isEnding = true
    // The last worker to close a socket first accepts the connections in its queue.
    this.#sockets.close()
    clearInterval(this.#heartbeat)
    for (const timer of this.#restarts) clearTimeout(timer)
  }

  #tellBans(bans: BanNews): undefined {
    for (const worker of this.#up) worker.ask({ kind: 'bans', bans }).catch(ignore)
  }

  #tellTrust(workers: readonly WorkerHandle[]): void {
    const seen = this.#parts.trust?.seen ?? null
    if (seen !== null) for (const worker of workers) worker.ask({ kind: 'trust', seen }).catch(ignore)
  }

  #tellFound(keys: readonly AnnouncedKey[], by: WorkerHandle): void {
    for (const key of keys) this.#found.add(key)
    this.#parts.cache?.hearFound(keys)
    for (const worker of this.#up) if (worker !== by) worker.ask({ kind: 'found', keys }).catch(ignore)
  }

  async #borrow(key: AnnouncedKey, by: WorkerHandle): Promise<Loan | null> {
    const others = [...this.#up].filter(worker => worker !== by)
    const late = once(AbortSignal.timeout(this.#timeouts.lendTimeout), 'abort').then(() => null)
    const loans = others.map(worker => worker.ask({ kind: 'lend', found: key }).catch(() => null))
    const own = this.#parts.cache?.lend(key) ?? null
    return freshest([own, ...(await Promise.all(loans.map(loan => Promise.race([loan, late]))))])
  }

  #ping(): void {
    const { maxMissed, maxMissedAtStart, settleEvery } = this.#timeouts
    if (++this.#pings % settleEvery === 0) void this.#shares.settle()
    for (const worker of this.#workers) {
      const maxPings = this.#up.has(worker) ? maxMissed : maxMissedAtStart
      if (!this.#hung.has(worker) && worker.ping() >= maxPings) void this.#endHung(worker, maxPings)
    }
  }

  async #endHung(worker: WorkerHandle, missed: number): Promise<void> {
    this.#hung.add(worker)
    this.#up.delete(worker)
    this.#cover()
    const stack = await worker.stack(this.#timeouts.stackTimeout)
    const pings = { missed, interval: this.#timeouts.heartbeat }
    this.#parts.log.error({ worker: worker.pid, pings, stack }, 'worker unresponsive, killing it')
    worker.kill()
  }

  async #retire(worker: WorkerHandle, grace: number): Promise<void> {
    await worker.ask({ kind: 'drain', grace }).catch(() => worker.kill())
    await worker.ended
  }

  /** `attempt` counts the previous crashes in a row. */
  async #start(slot: number, attempt: number): Promise<readonly Listener[]> {
    const { documentation, sidePort, openFiles = null, log, tallied } = this.#parts
    const heard = {
      counted: (tallies: readonly Tally[]) => tallied?.(tallies),
      refused: (refusals: BanNews) => this.#bans.count(refusals),
      found: (keys: readonly AnnouncedKey[], by: WorkerHandle) => this.#tellFound(keys, by),
      borrow: (key: AnnouncedKey, by: WorkerHandle) => this.#borrow(key, by),
      wants: (request: ShareRequest, by: WorkerHandle) => void this.#shares.request(by, request),
      doubts: (seen: Seen) => this.#parts.trust?.join(seen),
      bound: (socket: ListeningSocket) => this.#keep(socket),
      wrote: (line: string, { pid }: WorkerHandle) =>
        log.warn({ worker: pid, line }, 'worker wrote to stderr'),
    }
    const worker = this.#fork(slot, attempt, heard)
    const born = this.#clock.monotonic()
    this.#workers.add(worker)
    void worker.ended.then(end => {
      const crashes = this.#clock.monotonic() - born < this.#timeouts.steadyLife ? attempt + 1 : 0
      this.#bury(worker, end, crashes)
    })
    for (const socket of this.#sockets.of(slot)) worker.give(socket)
    try {
      const checks = [...this.#checks.values()]
      const { orphanGrace, lastWords } = this.#timeouts
      const ticketKeys = this.#ticketKeys
      const seen = this.#parts.trust?.seen ?? null
      const news = { seen, checks, bans: this.#bans.standing, ticketKeys, automatic: this.#automatic }
      const means = { config: this.#config, workers: this.#count, slot, ...news }
      const places = { documentation, sidePort, openFiles }
      const endpoints = await worker.ask({ kind: 'start', ...means, ...places, orphanGrace, lastWords })
      this.#up.add(worker)
      // Other workers may have its part while it starts.
      worker.ask({ kind: 'share', moved: this.#shares.join(worker) }).catch(ignore)
      this.#cover()
      worker.ask({ kind: 'checks', results: [...this.#checks.values()] }).catch(ignore)
      worker.ask({ kind: 'bans', bans: this.#bans.standing }).catch(ignore)
      if (this.#ticketKeys !== ticketKeys)
        worker.ask({ kind: 'tickets', keys: this.#ticketKeys! }).catch(ignore)
      worker.ask({ kind: 'certificates', automatic: this.#automatic }).catch(ignore)
      if (this.#parts.trust?.seen?.identity !== seen?.identity) this.#tellTrust([worker])
      worker.ask({ kind: 'found', keys: this.#found.all }).catch(ignore)
      return endpoints
    } catch (cause) {
      worker.kill()
      throw cause
    }
  }

  #fork(slot: number, attempt: number, heard: ConstructorParameters<typeof WorkerHandle>[1]): WorkerHandle {
    try {
      const { snapshotTimeout } = this.#timeouts
      const { program } = this.#parts
      return new WorkerHandle(slot, heard, { snapshotTimeout, isNumeric: this.#config.log.numeric, program })
    } catch (cause) {
      if (this.#isListening && !this.#isEnding) this.#restart(slot, attempt + 1)
      throw cause
    }
  }

  #bury(worker: WorkerHandle, end: WorkerEnd, crashes: number): void {
    this.#workers.delete(worker)
    this.#up.delete(worker)
    this.#shares.leave(worker)
    const { last } = worker
    if (last) this.#ended = this.#ended.then(ended => remains([ended, last]))
    if (this.#isEnding) return
    this.#cover()
    const delay = this.#restart(worker.slot, crashes)
    this.#parts.log.error({ worker: worker.pid, ...end, delay }, 'worker ended, starting another')
  }

  #restart(slot: number, crashes: number): number {
    const delay = backoff(crashes, this.#timeouts)
    const timer = setTimeout(() => {
      this.#restarts.delete(timer)
      this.#replace(slot, crashes)
    }, delay).unref()
    this.#restarts.add(timer)
    return delay
  }

  #keep(socket: ListeningSocket): void {
    if (this.#isEnding) socket.handle.close()
    else this.#sockets.keep(socket)
  }

  #replace(slot: number, crashes: number): void {
    this.#parts.metrics.workerRestarts.inc()
    this.#start(slot, crashes).catch(cause => {
      if (!this.#isEnding) this.#parts.log.error({ err: cause }, 'worker failed to start')
    })
  }
}

function unlessUnanswered(cause: unknown): null {
  if (cause instanceof Unanswered) return null
  throw cause
}

/** A worker that ends is replaced, and its replacement is sent the state again. */
function ignore(): void {}
