// A data plane in this process: that of one worker, or the only one.

import type { ListeningSocket } from '../../net/socket/listening-socket.ts'
import { AccessLog } from '../../log/access-log.ts'
import type { LogDestination, Logger } from '../../log/log.ts'
import type { Metrics, Snapshot } from '../../metrics/metrics.ts'
import type { Config, Listener } from '../../config/model/config.ts'
import type { Bans } from '../../access/bans/bans.ts'
import type { AccessSources } from '../../access/policy.ts'
import type { Tally } from '../../store/records/tally.ts'
import { type AutomaticTls, nothingAutomatic } from '../../certificates/acme/automatic.ts'
import { DataPlane, type PreparedConfig } from '../../edge/data-plane.ts'
import type { KeyedCheckResult } from '../../edge/origin/health/health-checker.ts'
import type { Share, ShareClaim } from '../../edge/accept/connection-share.ts'
import type { SidePort } from '../../edge/snapshot/plane.ts'
import type { SpanExporter } from '../../telemetry/span-exporter.ts'
import type { TicketKeySet } from '../../tls/ticket-keys.ts'
import type { NearKey } from '../../limits/near-keys.ts'
import type { ProviderInProcess } from '../../edge/ai/provider-states.ts'
import type { PoolState } from '../../edge/origin/pools.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'
import { AccessFiles } from './access-files.ts'
import { listenFailure } from '../ports/listen-failure.ts'
import type { ManagedPlane } from './managed-plane.ts'
import { lastExport, openSpans } from './telemetry.ts'
import type { Services } from '../services/services.ts'

interface LocalPlaneParts {
  readonly documentation: string | null
  readonly metrics: Metrics
  readonly destination: LogDestination
  readonly log: Logger
  readonly services: Services
  readonly sidePort: SidePort
  readonly reusePort: boolean
  readonly bans?: Bans
  readonly share?: Share
  readonly tallied?: (tallies: readonly Tally[]) => unknown
}

export class LocalPlane implements ManagedPlane {
  readonly #parts: LocalPlaneParts
  readonly #accessLog: AccessLog | null
  readonly #files: AccessFiles
  #config: Config
  #plane: DataPlane | null = null
  #unfollow: (() => void) | null = null
  #isUp = false
  #automatic: AutomaticTls = nothingAutomatic
  #checks: readonly KeyedCheckResult[] = []
  #ticketKeys: TicketKeySet | null = null
  #spans: SpanExporter | null = null

  constructor(config: Config, parts: LocalPlaneParts) {
    this.#config = config
    this.#parts = parts
    this.#accessLog = config.log.access ? new AccessLog(parts.destination, config.log) : null
    this.#files = new AccessFiles(parts.log, parts.metrics.edge.access)
  }

  get isUp(): boolean {
    return this.#isUp
  }

  get sockets(): readonly ListeningSocket[] {
    return this.#plane?.sockets ?? []
  }

  async listen(sockets: readonly ListeningSocket[] = [], slot = 0): Promise<readonly Listener[]> {
    const { reusePort, services } = this.#parts
    this.#spans = await openSpans(this.#config, this.#parts)
    this.#plane = this.#build(await this.#files.open(this.#config))
    this.#plane.takeChecks(this.#checks)
    if (this.#ticketKeys !== null) this.#plane.takeTicketKeys(this.#ticketKeys)
    this.#unfollow = services.zones.follow(() => this.#plane!.refresh())
    try {
      const endpoints = await this.#plane.listen({ reusePort, slot, sockets })
      this.#isUp = true
      return endpoints
    } catch (cause) {
      throw listenFailure(cause, this.#config)
    }
  }

  async prepare(config: Config): Promise<PreparedConfig> {
    try {
      const next = this.#plane!.prepare(config, await this.#files.open(config))
      return {
        commit: checks => {
          next.commit(checks)
          this.#files.keep(config)
          this.#parts.log.level = config.log.level
          this.#accessLog?.resample(config.log.sample)
          this.#config = config
        },
        discard: () => {
          next.discard()
          this.#files.keep(this.#config)
        },
      }
    } catch (cause) {
      this.#files.keep(this.#config)
      throw cause
    }
  }

  async adopt(socket: ListeningSocket): Promise<void> {
    await this.#plane!.adopt(socket)
  }

  release(socket: Omit<ListeningSocket, 'handle' | 'isAlone'>): void {
    this.#plane!.release(socket)
  }

  async drain(grace: number): Promise<void> {
    this.#isUp = false
    await this.#plane?.drain(grace)
    await this.#spans?.close(lastExport)
    this.#release()
  }

  async cut(): Promise<void> {
    this.destroy()
  }

  destroy(): void {
    this.#isUp = false
    this.#release()
    this.#plane?.destroy()
    void this.#spans?.close(0)
  }

  takeChecks(results: readonly KeyedCheckResult[]): void {
    if (this.#plane === null) this.#checks = results
    else this.#plane.takeChecks(results)
  }

  takeTicketKeys(keys: TicketKeySet): void {
    this.#ticketKeys = keys
    this.#plane?.takeTicketKeys(keys)
  }

  async takeCertificates(automatic: AutomaticTls): Promise<void> {
    this.#automatic = automatic
    this.#plane?.takeCertificates(automatic)
  }

  leaveShare(claim: ShareClaim): number {
    return this.#plane?.leaveShare(claim) ?? 0
  }

  async nearLimits(names: readonly string[]): Promise<readonly (readonly NearKey[])[]> {
    const wanted = new Set(names)
    const nearest = await this.#parts.services.limiter.nearest()
    return [nearest.filter(({ limit }) => wanted.has(limit))]
  }

  async pools(): Promise<readonly (readonly PoolState[])[]> {
    return this.#plane === null ? [] : [this.#plane.pools]
  }

  async providers(): Promise<readonly (readonly ProviderInProcess[])[]> {
    return this.#plane === null ? [] : [this.#plane.providers]
  }

  async explain(question: RequestInQuestion): Promise<Explained | null> {
    return this.#plane === null ? null : this.#plane.explain(question)
  }

  async snapshots(): Promise<readonly Snapshot[]> {
    return []
  }

  #release(): void {
    this.#unfollow?.()
    this.#files.close()
  }

  #build(access: AccessSources): DataPlane {
    const { documentation, metrics, log, services, sidePort, bans, share, tallied } = this.#parts
    return new DataPlane(this.#config, {
      documentation,
      metrics: metrics.edge,
      accessLog: this.#accessLog,
      log,
      spans: this.#spans,
      ai: services,
      sidePort,
      sessions: services.siteSessions,
      access,
      zones: services.zones,
      limiter: services.limiter,
      identityKeys: services.identityKeys,
      automatic: this.#automatic,
      ...(bans && { bans }),
      ...(share && { share }),
      ...(tallied && { report: tallied }),
    })
  }
}
