// The store in Redis: opens its connections and assembles the parts beside it.

import { type Clock, systemClock } from '../../base/clock.ts'
import { Degradation } from '../contract/degradation.ts'
import { type Mark, newIdentity, type Seen } from '../contract/mark.ts'
import { type Bootstrap, type Store, StoreUnreachable } from '../contract/store.ts'
import { Trust } from '../contract/trust.ts'
import { RedisAccounts } from './accounts.ts'
import { type Address, locationOf, parseAddress } from './server/address.ts'
import { RedisResponses } from './stored-responses.ts'
import { RedisAudit } from './audit.ts'
import { RedisAuthorizationEvents } from './authorization-events.ts'
import { RedisChanges } from './changes.ts'
import { RedisCredentials } from './credentials.ts'
import { connect, type Credentials, type Dialling, type Subscription, subscribe } from './server/connect.ts'
import { Connection } from './server/connection.ts'
import { RedisAnswers } from './answers/answers.ts'
import { RedisClaims } from './answers/claims.ts'
import { RedisBudgets } from './counts/budgets.ts'
import { RedisCounters } from './counts/counters.ts'
import { Unfit } from './server/requirements.ts'
import { DurableWrites } from './server/durability.ts'
import { NotPrimary } from './server/failure.ts'
import { RedisGateways } from './gateways.ts'
import { RemovedGateways } from './removed-gateways.ts'
import { changeChannel, keys } from './server/keys.ts'
import { markIn } from './server/mark-text.ts'
import { RedisLogs } from './logs/logs.ts'
import { RedisOAuthGrants } from './oauth-grants.ts'
import { RedisModelRoutes } from './model-routes.ts'
import { RedisOAuthClients } from './oauth-clients.ts'
import { insertFirst, recordKeys } from './record-scripts.ts'
import { RedisPeers } from './peers.ts'
import { RedisMembers, RedisUsers } from './people.ts'
import { RedisRecords, RedisTokens } from './records.ts'
import { Replicas } from './server/replicas.ts'
import { RedisTallies } from './counts/tallies.ts'
import { readMark, setMark, TrustedReader } from './trusted-reader.ts'
import { linesOf } from './server/server-facts.ts'
import { deniedRights } from './server/acl.ts'
import { Sentinels } from './server/sentinels.ts'
import { lossesOf } from './server/settings.ts'

export interface RedisOptions {
  readonly commandTimeout: number
  readonly clock?: Clock
  /** The certificate authorities for rediss://, in PEM; null for those that Node trusts. */
  readonly ca?: string | null
  readonly sentinel?: Credentials
  /** Whether an unsuitable server opens as unreachable instead of rejecting, as in workers. */
  readonly opensUnfit?: boolean
}

const lost =
  'Confirmed changes were lost: the server that is now the primary was promoted without the last of them.'

/** How long opening waits for a server that does not respond, in ms; then the store opens as unreachable. */
const openTimeout = 2_000

export class RedisStore implements Store {
  readonly location: string
  readonly degradation = new Degradation()
  readonly openFiles = null
  readonly trust = new Trust(this.degradation)
  readonly accounts: RedisAccounts
  readonly gateways: RedisGateways
  readonly modelRoutes: RedisModelRoutes
  readonly policySets: Store['policySets']
  readonly budgetAlertSets: Store['budgetAlertSets']
  readonly customProviders: Store['customProviders']
  readonly tokens: RedisTokens
  readonly oauthClients: RedisOAuthClients
  readonly users: RedisUsers
  readonly members: RedisMembers
  readonly credentials: RedisCredentials
  readonly oauthGrants: RedisOAuthGrants
  readonly authorizationEvents: RedisAuthorizationEvents
  readonly signingKeys: Store['signingKeys']
  readonly acmeAccounts: Store['acmeAccounts']
  readonly certificates: Store['certificates']
  readonly ticketKeys: Store['ticketKeys']
  readonly tokenKeys: Store['tokenKeys']
  readonly notes: Store['notes']
  readonly errorRules: Store['errorRules']
  readonly accessRules: Store['accessRules']
  readonly errorPages: Store['errorPages']
  readonly responses: RedisResponses
  readonly audit: RedisAudit
  readonly logs: RedisLogs
  readonly counters: RedisCounters
  readonly budgets: RedisBudgets
  readonly answers: RedisAnswers
  readonly claims: RedisClaims
  readonly tallies: RedisTallies
  readonly peers: RedisPeers
  readonly changes: RedisChanges
  readonly #connections: readonly Connection[]
  readonly #writes: DurableWrites
  readonly #spending: DurableWrites
  readonly #graves: RemovedGateways
  readonly #replicas: Replicas
  readonly #sentinels: Sentinels | null
  readonly #notices: Subscription
  readonly #rights: () => Promise<readonly string[]>

  /**
   * Opens a store, as unreachable if its server is; rejects with a sentence for a bad URL or an unsuitable
   * server.
   */
  static async open(url: string, options: RedisOptions): Promise<RedisStore> {
    const address = parseAddress(url)
    if (typeof address === 'string') throw new Error(address)
    const store = new RedisStore(address, options)
    try {
      await store.#open()
      return store
    } catch (error) {
      if (error instanceof Unfit && options.opensUnfit) return store
      await store.close()
      throw error instanceof Unfit ? new Error(`${error.message}. ${error.remedy}.`) : error
    }
  }

  private constructor(address: Address, options: RedisOptions) {
    const {
      commandTimeout,
      clock = systemClock,
      ca = null,
      sentinel = { username: null, password: null },
    } = options
    const terms = { address, ca, sentinel }
    const sentinels = address.kind === 'sentinel' ? new Sentinels(terms, clock) : null
    const dialling: Dialling = { ...terms, guide: sentinels }
    const dial = (looks: boolean) =>
      new Connection(connect(dialling, commandTimeout), { timeout: commandTimeout, address, looks })
    // Separate connections, so that neither bulk data nor a wait for the disk delays requests.
    const [records, writes, logs, spending] = [dial(true), dial(false), dial(true), dial(false)]
    this.location = locationOf(address)
    this.#rights = () => deniedRights(dialling, openTimeout)
    this.#sentinels = sentinels
    this.#replicas = new Replicas(sentinels)
    this.#connections = [records, writes, logs, spending]
    const durable = {
      timeout: commandTimeout,
      clock,
      isCluster: address.kind === 'cluster',
      degradation: this.degradation,
      trust: this.trust,
    }
    this.#writes = new DurableWrites(writes, this.#replicas, durable)
    // Calls wait for them, and what a crash loses of them is reported again.
    this.#spending = new DurableWrites(spending, this.#replicas, { ...durable, isForDisk: false })
    const readerOf = (connection: Connection) => new TrustedReader(connection, this.trust, this.#replicas)
    const [reader, bulk] = [readerOf(records), readerOf(logs)]
    const parts = [reader, this.#writes, clock] as const
    this.answers = new RedisAnswers(records, logs, clock)
    this.claims = new RedisClaims({ reader, writes: this.#writes, quick: this.#spending }, clock)
    this.accounts = new RedisAccounts(...parts)
    this.gateways = new RedisGateways(this.answers, ...parts)
    this.modelRoutes = new RedisModelRoutes(...parts)
    this.policySets = new RedisRecords({ kind: 'policy_set' }, ...parts)
    this.budgetAlertSets = new RedisRecords({ kind: 'budget_alert_set' }, ...parts)
    this.customProviders = new RedisRecords({ kind: 'custom_provider' }, ...parts)
    this.tokens = new RedisTokens(...parts)
    this.oauthClients = new RedisOAuthClients(...parts)
    this.users = new RedisUsers(...parts)
    this.members = new RedisMembers(...parts)
    this.credentials = new RedisCredentials(...parts)
    this.oauthGrants = new RedisOAuthGrants(...parts)
    this.authorizationEvents = new RedisAuthorizationEvents(...parts)
    this.signingKeys = new RedisRecords({ kind: 'signing_key' }, ...parts)
    this.acmeAccounts = new RedisRecords({ kind: 'acme_account' }, ...parts)
    this.certificates = new RedisRecords({ kind: 'certificate' }, ...parts)
    this.ticketKeys = new RedisRecords({ kind: 'ticket_key' }, ...parts)
    this.tokenKeys = new RedisRecords({ kind: 'token_key' }, ...parts)
    this.notes = new RedisRecords({ kind: 'store_note' }, ...parts)
    this.errorRules = new RedisRecords({ kind: 'error_rule_list' }, ...parts)
    this.accessRules = new RedisRecords({ kind: 'access_rule_list' }, ...parts)
    // On the connection for bulk data, since a page may have 1.5 MB.
    this.errorPages = new RedisRecords({ kind: 'error_page' }, bulk, this.#writes, clock)
    this.responses = new RedisResponses(...parts)
    this.audit = new RedisAudit(reader, this.#writes)
    this.logs = new RedisLogs(records, logs)
    this.counters = new RedisCounters(records, clock)
    this.budgets = new RedisBudgets({ reader, writes: this.#spending, connection: spending }, clock)
    this.tallies = new RedisTallies(logs, clock)
    this.peers = new RedisPeers(logs, clock)
    this.changes = new RedisChanges(reader, clock)
    this.#graves = new RemovedGateways(records, logs)
    this.changes.follow(change => {
      if (change.kind === 'gateway' || change.kind === 'everything') this.#graves.clear()
    })
    this.trust.follow(() => this.changes.begin())
    records.onArrival(() => this.changes.look())
    for (const one of this.#connections) one.onFitness(() => this.#judge())
    this.#notices = subscribe(dialling, changeChannel, () => this.changes.look())
    sentinels?.onSwitch(() => this.#redial())
    if (address.kind !== 'cluster')
      for (const one of this.#connections) one.onArrival(() => this.#gather(one))
  }

  get refusal(): string | null {
    if (this.#sentinels !== null && this.#sentinels.view === null) return this.#sentinels.census
    return this.isUnreachable ? null : this.#writes.refusal
  }

  get deafness(): string | null {
    return this.#notices.fault
  }

  get isUnreachable(): boolean {
    return this.#connections.some(({ isUnreachable }) => isUnreachable)
  }

  async bootstrap({ account, gateway, token, tokenKey }: Bootstrap): Promise<boolean> {
    const [ofTokens, ofGateways] = [recordKeys('token', account.id), recordKeys('gateway', account.id)]
    const ofKeys = recordKeys('token_key', tokenKey.account)
    const homes = [
      ...ofTokens.slice(0, 3),
      ...[ofGateways, ofTokens, ofKeys].flatMap(homes => homes.slice(3, 5)),
      keys.accounts,
      keys.mark,
    ]
    const args = [
      ...[changeChannel, account.id, JSON.stringify(account)],
      ...[gateway.id, JSON.stringify(gateway), gateway.createdAt],
      ...[token.id, token.digest, JSON.stringify(token), token.issuedOn],
      ...[tokenKey.account, tokenKey.id, JSON.stringify(tokenKey), tokenKey.createdAt],
    ]
    return (await this.#writes.run(insertFirst, homes, args)) === 1
  }

  confirm(): Promise<void> {
    return this.#writes.confirm()
  }

  async mark(): Promise<Mark | null> {
    return readMark(this.#connections[0]!)
  }

  async adopt(): Promise<Seen> {
    return this.#mark(newIdentity(), 0, '')
  }

  async continueAs({ identity, generation }: Seen, before = 'always'): Promise<void> {
    await this.#mark(identity, generation, before)
  }

  async #mark(identity: string, generation: number, when: string): Promise<Seen> {
    const text = await this.#writes.run(setMark, [keys.mark, keys.accounts], [identity, generation, when])
    return { ...(markIn(text) as Mark & { identity: string }), isBehind: false }
  }

  async durability(): Promise<readonly string[]> {
    const losses = lossesOf(await this.#writes.settings(), this.#replicas.confirmers)
    return this.#writes.hasLost ? [lost, ...losses] : losses
  }

  rights(): Promise<readonly string[]> {
    return this.#rights()
  }

  async size(): Promise<number | null> {
    try {
      const info = await this.#connections[0]!.run(['INFO', 'memory'])
      return Number(linesOf(String(info)).get('used_memory')) || null
    } catch (cause) {
      // If INFO is denied, the size is unknown.
      if (cause instanceof StoreUnreachable && cause.reason !== 'NOPERM') throw cause
      return null
    }
  }

  async close(): Promise<void> {
    this.changes.close()
    this.#graves.close()
    this.#notices.end()
    await Promise.all([this.#writes.close(), this.#spending.close()])
    this.#sentinels?.close()
    await Promise.all(this.#connections.map(connection => connection.close()))
  }

  #judge(): void {
    const { unfit = null } = this.#connections.find(({ unfit }) => unfit !== null) ?? {}
    this.degradation.set('server_unfit', unfit && { message: unfit.message, remedy: unfit.remedy })
  }

  #redial(): void {
    for (const connection of this.#connections) connection.leave(new NotPrimary())
    this.#notices.redial()
  }

  /** Makes all connections lead to the same server: a name may have come to mean another one. */
  #gather({ runId }: Connection): void {
    for (const other of this.#connections) {
      if (!other.isUnreachable && other.runId !== runId) other.leave(new NotPrimary())
    }
  }

  async #open(): Promise<void> {
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, openTimeout)
    try {
      await Promise.race([Promise.all(this.#connections.map(({ opened }) => opened)), limit.promise])
    } finally {
      clearTimeout(timer)
    }
    if (!this.isUnreachable) await this.changes.look()
  }
}
