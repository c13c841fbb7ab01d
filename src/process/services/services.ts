// The store, its caches and its queued writes; one per process.

import { systemClock } from '../../base/clock.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import { LogThrottle } from '../../log/log-throttle.ts'
import type { Logger } from '../../log/log.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import { type AnnouncedKey, KeyAnnouncer, AnnouncedKeyLoader } from '../../store/cache/announced-keys.ts'
import type { LentRecord, Lent, Loan } from '../../store/cache/cache-handover.ts'
import { openStore } from '../../store/open.ts'
import type { Gateway, Token } from '../../store/records/records.ts'
import type { AnswerBounds } from '../../store/answers/answer.ts'
import type { Store } from '../../store/contract/store.ts'
import { GatewayDirectory } from '../../ai/gateway-directory.ts'
import { CustomDirectory } from '../../ai/providers/custom-directory.ts'
import { GatewayKeys } from '../../ai/providers/gateway-keys.ts'
import { RouteDirectory } from '../../ai/route-directory.ts'
import { PriceTable } from '../../ai/usage/prices.ts'
import { usageOf } from '../../ai/usage/usage.ts'
import { Limiter } from '../../limits/limiter.ts'
import { BudgetHolder } from '../../budgets/budget-holder.ts'
import { answerBoundsOf } from '../../answers/answer-bounds.ts'
import { AnswerCache } from '../../answers/answer-cache.ts'
import { ClaimedCalls } from '../../answers/claimed-calls.ts'
import { publicOrIn } from '../../net/address/public-address.ts'
import { GuardWebhooks } from '../../guard/webhook/guard-webhooks.ts'
import { LogQueue } from '../../ai-logs/queue.ts'
import { SpoolWriter } from '../../log-export/spool-writer.ts'
import { AccessTokens } from '../../oauth/grants/access-tokens.ts'
import { PersonalTokens } from '../../oauth/grants/personal-tokens.ts'
import { apiOf, type Places } from '../../oauth/grants/resource-indicator.ts'
import { KnownSiteSessions } from '../../people/sessions/known-site-sessions.ts'
import { SigningKeys } from '../../tokens/signing-keys.ts'
import { RouteResources } from '../../oauth/grants/route-resources.ts'
import { TokenTags } from '../../tokens/token-tags.ts'
import { TokenUses } from '../../tokens/token-uses.ts'
import { TokenVerifier } from '../../tokens/verify.ts'
import { ZoneRecords } from '../../zones/zone-records.ts'
import type { AiServices } from '../../edge/snapshot/plane.ts'
import { issuerOf } from '../ports/urls.ts'
import { findSecretKeys } from '../store/secret-keys-file.ts'
import { copyPath, dataFolder, spoolFolder, storeDialling, storeLocation } from '../store/location.ts'

interface ServicesOptions {
  readonly metrics: EdgeMetrics
  readonly log: Logger
  readonly sidePort: () => Endpoint
  /** `Store.openFiles` of the parent gateway, set in its workers: they create no files. */
  readonly joins?: string | null
  /** Whether this process keeps the local copy of API-managed settings, for starts without the store. */
  readonly writesCopy?: boolean
  readonly keeper?: Keeper
  /** Announces keys found in the store to the other processes; must not reject. */
  readonly tellFound?: (keys: readonly AnnouncedKey[]) => Promise<unknown>
  /** With `isFound`, another process has announced the key. Must not reject. */
  readonly borrow?: (key: AnnouncedKey, isFound: boolean) => Promise<Loan | null>
}

interface Keeper {
  open(store: Store): Promise<void> | void
  close(): Promise<void> | void
}

export class Services implements AiServices {
  readonly store: Store
  readonly tokens: TokenVerifier
  readonly tags: TokenTags
  readonly siteSessions: KnownSiteSessions
  readonly gateways: GatewayDirectory
  readonly routes: RouteDirectory
  readonly custom: CustomDirectory
  readonly keys: GatewayKeys
  /** Null on a first start, until they are made. */
  secrets: SecretKeys | null
  readonly logs: LogQueue
  readonly budgets: BudgetHolder
  readonly answers: AnswerCache
  readonly claimed: ClaimedCalls
  readonly guardWebhooks: GuardWebhooks
  readonly prices: Pick<PriceTable, 'costOf' | 'worstCost'>
  readonly spool: SpoolWriter
  readonly limiter: Limiter
  readonly identityKeys: SigningKeys
  readonly zones: ZoneRecords
  readonly #uses: TokenUses
  readonly #found: AnnouncedKeyLoader
  readonly #sidePort: () => Endpoint
  readonly #keeper: Keeper | undefined
  #prices: PriceTable
  #answerBounds: AnswerBounds
  #isWebhookAddress: (address: string) => boolean
  #config: Pick<Config, 'ai' | 'oauth' | 'scopes' | 'zones'>
  readonly #routeResources = new RouteResources(() => this.#config)
  /** The last URL and its inputs: every refused call needs it. */
  #issuer: { readonly config: object; readonly sidePort: Endpoint; readonly url: string | null } | null = null

  private constructor(store: Store, secrets: SecretKeys | null, config: Config, options: ServicesOptions) {
    const { metrics, log, writesCopy = false, tellFound, borrow } = options
    const { grace } = config.store
    const post = tellFound && new KeyAnnouncer(tellFound)
    const announce = post && ((...key: AnnouncedKey) => post.add(key))
    // A key that is looked up as a token is the digest of a token.
    const borrowed =
      borrow && (<T>(...key: AnnouncedKey) => borrow(key, this.#found.awaits(key)) as Promise<Lent<T> | null>)
    this.store = store
    this.#config = config
    this.#sidePort = options.sidePort
    this.#keeper = options.keeper
    this.#uses = new TokenUses({ store, log })
    this.tags = new TokenTags(store)
    this.tokens = new TokenVerifier({
      store,
      grace,
      tags: this.tags,
      metrics: metrics.ai,
      access: new AccessTokens(store, resource => apiOf(resource, this.#places)),
      people: new PersonalTokens(store),
      announce,
      borrow: borrowed,
      used: token => this.#uses.note(token),
    })
    this.siteSessions = new KnownSiteSessions({ store, tags: this.tags, grace })
    this.gateways = new GatewayDirectory({
      store,
      grace,
      onLoad: announce && (key => announce('gateway', key)),
      borrow: borrowed && (key => borrowed('gateway', key)),
    })
    this.routes = new RouteDirectory({ store, grace })
    this.custom = new CustomDirectory({ store, grace })
    this.secrets = secrets
    this.keys = new GatewayKeys({ store, secrets: () => this.secrets, log })
    this.identityKeys = new SigningKeys({ owner: 'identity', store, secrets: () => this.secrets, log })
    this.#found = new AnnouncedKeyLoader(([kind, key]) =>
      kind === 'gateway' ? this.gateways.recall(key) : this.tokens.recall(kind, key),
    )
    this.#prices = pricesOf(config)
    this.#answerBounds = answerBoundsOf(config.ai.reuse)
    this.#isWebhookAddress = publicOrIn(config.ai.webhookNetworks)
    const costOf: PriceTable['costOf'] = (...call) => this.#prices.costOf(...call)
    const exported = { folder: spoolFolder(), config: config.ai.logExport }
    this.spool = new SpoolWriter({ ...exported, metrics: metrics.ai, log })
    const meter = { usageOf, costOf }
    this.logs = new LogQueue({ store, meter, metrics: metrics.ai, log, spool: this.spool })
    this.budgets = new BudgetHolder({
      ...{ budgets: store.budgets, clock: systemClock, log },
      metrics: metrics.budgets,
    })
    this.answers = new AnswerCache({
      ...{ store, secrets: () => this.secrets, clock: systemClock, metrics: metrics.answers },
      bounds: () => this.#answerBounds,
      memory: () => this.#config.ai.reuse.memory,
      warnings: new LogThrottle(log, systemClock),
    })
    this.claimed = new ClaimedCalls({
      store,
      clock: systemClock,
      warnings: new LogThrottle(log, systemClock),
    })
    this.guardWebhooks = new GuardWebhooks({
      ...{ secrets: () => this.secrets, clock: systemClock, metrics: metrics.ai },
      isAllowed: address => this.#isWebhookAddress(address),
      warnings: new LogThrottle(log, systemClock),
    })
    this.prices = { costOf, worstCost: (...call) => this.#prices.worstCost(...call) }
    const { counters } = store
    this.limiter = new Limiter({ clock: systemClock, counters, metrics: metrics.limits, log })
    this.zones = new ZoneRecords({ store, log, cachePath: copyPath(store, 'zones.json'), writes: writesCopy })
  }

  /** Opens the store; rejects with a sentence when it cannot be used, but not when it is only unreachable. */
  static async open(config: Config, options: ServicesOptions): Promise<Services> {
    const { commandTimeout } = config.store
    const store = await openStore(storeLocation(config), {
      commandTimeout,
      metrics: options.metrics.store,
      hasLogThread: true,
      joins: options.joins ?? null,
      opensUnfit: options.joins !== undefined,
      ...storeDialling(config),
    })
    await options.keeper?.open(store)
    const secrets = await findSecretKeys(config.secrets, dataFolder()).catch(() => null)
    const services = new Services(store, secrets, config, options)
    await Promise.all([services.zones.open(), services.tags.open()])
    return services
  }

  reload(config: Config): void {
    this.#config = config
    this.#prices = pricesOf(config)
    this.#answerBounds = answerBoundsOf(config.ai.reuse)
    this.#isWebhookAddress = publicOrIn(config.ai.webhookNetworks)
    this.spool.reload(config.ai.logExport)
  }

  get issuer(): string | null {
    const sidePort = this.#sidePort()
    if (this.#issuer?.config !== this.#config || this.#issuer.sidePort !== sidePort)
      this.#issuer = { config: this.#config, sidePort, url: issuerOf(this.#config, sidePort) }
    return this.#issuer.url
  }

  get #places(): Places {
    return { issuer: this.issuer, aiHosts: this.#config.ai.hosts, routes: this.#routeResources }
  }

  hearFound(keys: readonly AnnouncedKey[]): void {
    this.#found.hear(keys)
  }

  lend([kind, key]: AnnouncedKey): Loan | null {
    return kind === 'gateway' ? this.gateways.lend(key) : this.tokens.lend(kind, key)
  }

  get loans(): readonly LentRecord[] {
    const records: LentRecord[] = []
    for (const [form, digest, loan] of this.tokens.loans()) records.push({ found: [form, digest], loan })
    for (const [key, loan] of this.gateways.loans()) records.push({ found: ['gateway', key], loan })
    return records
  }

  adopt(records: readonly LentRecord[]): void {
    for (const {
      found: [kind, key],
      loan,
    } of records) {
      if (kind === 'gateway') this.gateways.adopt(key, loan as Lent<Gateway>)
      else this.tokens.adopt(kind, key, loan as Lent<Token>)
    }
    this.hearFound(records.map(record => record.found))
  }

  async close(): Promise<void> {
    this.#found.close()
    await this.limiter.close()
    await this.logs.close()
    await this.answers.close()
    await this.claimed.close()
    await this.guardWebhooks.close()
    await this.budgets.close()
    await this.spool.close()
    await this.#uses.close()
    await this.keys.close()
    await this.zones.close()
    await this.#keeper?.close()
    await this.store.close()
  }
}

function pricesOf({ ai }: Config): PriceTable {
  return new PriceTable(ai.prices, ai.priceList)
}
