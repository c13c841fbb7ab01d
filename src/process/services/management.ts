// What the management API needs besides the store; in the process of the admin listener.

import { hostname } from 'node:os'
import { systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { Logger } from '../../log/log.ts'
import type { Metrics } from '../../metrics/metrics.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import type { Store } from '../../store/contract/store.ts'
import { LogExport } from '../../log-export/log-export.ts'
import { Limiter } from '../../limits/limiter.ts'
import { LimitsWatch } from '../../limits/limits-watch.ts'
import { LogSeries } from '../../ai-logs/series/log-series.ts'
import { TallyKeeper } from '../../activity/tally-keeper.ts'
import { DomainWatch } from '../../domains/domain-watch.ts'
import { TxtLookup } from '../../domains/txt-lookup.ts'
import { Attention } from '../../admin/attention/attention.ts'
import { AlertWatch } from '../../admin/budget-alerts/alert-watch.ts'
import { publicOrIn } from '../../net/address/public-address.ts'
import { WebhookSender } from '../../admin/budget-alerts/webhook.ts'
import { GrantKeeper } from '../../admin/upkeep/grant-keeper.ts'
import { AnswerKeeper } from '../../admin/upkeep/answer-keeper.ts'
import { AuditKeeper } from '../../admin/upkeep/audit-keeper.ts'
import { Refusals } from '../../admin/api/refusal-log.ts'
import { WriteLimit } from '../../admin/api/write-limit.ts'
import { loadSecretKeys } from '../store/secret-keys-file.ts'
import { dataFolder, spoolFolder } from '../store/location.ts'
import { KeyWatch } from '../store/key-watch.ts'
import { warnOfUnknownKeys } from '../store/unknown-keys.ts'

export class Management {
  readonly secrets: SecretKeys
  readonly writes: WriteLimit
  readonly refusals: Refusals
  readonly logSeries: LogSeries
  readonly attention: Attention
  readonly tallies: TallyKeeper
  readonly limits: LimitsWatch
  readonly logExport: LogExport
  readonly #limiter: Limiter
  readonly grants: GrantKeeper
  readonly webhooks = new WebhookSender({ isAllowed: address => this.#isWebhookAddress(address) })
  readonly #alerts: AlertWatch
  readonly #keeper: AuditKeeper
  readonly #answers: AnswerKeeper
  #maxAnswerBytes: number
  #isWebhookAddress: (address: string) => boolean
  readonly #watch: DomainWatch
  readonly #keyWatch: KeyWatch
  readonly #end = new AbortController()
  readonly #looking: Promise<void>

  private constructor(secrets: SecretKeys, config: Config, store: Store, metrics: Metrics, log: Logger) {
    const { domains, management } = config
    this.secrets = secrets
    const counted = { counters: store.counters, metrics: metrics.edge.limits }
    this.#limiter = new Limiter({ clock: systemClock, ...counted, log })
    this.writes = new WriteLimit(this.#limiter, management.writes)
    this.refusals = new Refusals(log, metrics.managementRefusals)
    this.limits = new LimitsWatch(config, { store, log })
    metrics.limitDifferences = () => this.limits.differences.length
    this.logSeries = new LogSeries(store)
    const exported = { folder: spoolFolder(), metrics: metrics.edge.ai }
    this.logExport = new LogExport(config.ai.logExport, { ...exported, log })
    this.attention = new Attention(store)
    this.tallies = new TallyKeeper({ store, log })
    this.#keeper = new AuditKeeper({ store, log, bounds: management.audit })
    this.#keeper.start()
    this.#maxAnswerBytes = config.ai.reuse.total
    this.#isWebhookAddress = publicOrIn(config.ai.webhookNetworks)
    this.#answers = new AnswerKeeper({ store, log, maxBytes: () => this.#maxAnswerBytes })
    this.#answers.start()
    this.grants = new GrantKeeper({ store, log })
    this.grants.start()
    const delivery = { sender: this.webhooks, metrics: metrics.budgetAlerts }
    this.#alerts = new AlertWatch({ store, secrets, ...delivery, log })
    this.#alerts.start()
    this.#watch = new DomainWatch({
      store,
      lookup: new TxtLookup(domains),
      log,
      metrics: metrics.domainChecks,
    })
    this.#watch.start()
    this.#keyWatch = new KeyWatch(store, secrets, log)
    this.#looking = warnOfUnknownKeys(store, secrets, log, this.#end.signal)
  }

  /** Rejects with a sentence when the keys cannot be read, or a first one be created, safely. */
  static async open(
    config: Config,
    store: Store,
    metrics: Metrics,
    log: Logger,
    folder = dataFolder(),
  ): Promise<Management> {
    let path: string | null = null
    const secrets = await loadSecretKeys(config.secrets, folder, made => {
      path = made
    })
    if (path !== null) log.info({ path, key: secrets.currentId }, newKey)
    if (config.secrets.key === null && !store.location.startsWith('sqlite:')) log.warn(ownKey)
    const management = new Management(secrets, config, store, metrics, log)
    // Must come before the check whether the store is trusted.
    await management.#keyWatch.open()
    return management
  }

  /** Call it once clients are served. */
  serve(admin: Endpoint): void {
    this.#keyWatch.serve()
    this.limits.start(`${hostname()}:${admin.port}`)
  }

  reload(config: Config): void {
    this.limits.reload(config)
    this.#isWebhookAddress = publicOrIn(config.ai.webhookNetworks)
    this.#maxAnswerBytes = config.ai.reuse.total
    this.logExport.reload(config.ai.logExport)
  }

  /** Call it before waiting for the last requests: the gateway that serves by now may have another key. */
  rest(): void {
    void this.#keyWatch.close()
    void this.limits.close()
  }

  async close(): Promise<void> {
    this.#end.abort()
    await Promise.all([
      this.#watch.close(),
      this.#keyWatch.close(),
      this.limits.close(),
      this.#keeper.close(),
      this.#answers.close(),
      this.tallies.close(),
      this.grants.close(),
      this.#alerts.close(),
      this.webhooks.close(),
      this.#limiter.close(),
      this.logSeries.close(),
      this.logExport.close(),
      this.attention.close(),
      this.#looking,
    ])
  }
}

const newKey = 'created the key that protects client secrets; back it up together with the store'

const ownKey =
  "secrets.key not set, client secrets are protected by a key in this machine's data folder; every machine that shares the store needs the same key"
