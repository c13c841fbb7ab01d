// An edge with AI routes on ai.test, over a real store in memory, with an account, its gateway `default` and a token for it.

import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type Clock, systemClock } from '../../src/base/clock.ts'
import { EdgeMetrics } from '../../src/metrics/counters/edge-metrics.ts'
import { createLogger } from '../../src/log/log.ts'
import type { AiConfig, ProviderConfig } from '../../src/config/model/config.ts'
import { usualTransport } from '../../src/config/model/pool-config.ts'
import { GatewayDirectory } from '../../src/ai/gateway-directory.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import { CustomDirectory } from '../../src/ai/providers/custom-directory.ts'
import { GatewayKeys } from '../../src/ai/providers/gateway-keys.ts'
import { RouteDirectory } from '../../src/ai/route-directory.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { PriceTable } from '../../src/ai/usage/prices.ts'
import { usageOf } from '../../src/ai/usage/usage.ts'
import { AnswerCache } from '../../src/answers/answer-cache.ts'
import type { AnswerRoom } from '../../src/answers/answer-room.ts'
import { ClaimedCalls } from '../../src/answers/claimed-calls.ts'
import { GuardWebhooks } from '../../src/guard/webhook/guard-webhooks.ts'
import { BudgetHolder } from '../../src/budgets/budget-holder.ts'
import { LogQueue } from '../../src/ai-logs/queue.ts'
import { routeOwner } from '../../src/store/records/model-route.ts'
import { type Policy, type PolicySet, policySetId } from '../../src/store/records/policy.ts'
import type { Gateway, LogEntry, LogSummary, Token } from '../../src/store/records/records.ts'
import type { NameLookup } from '../../src/edge/resolver/name-lookup.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { mintToken } from '../../src/tokens/token.ts'
import { PersonalTokens } from '../../src/oauth/grants/personal-tokens.ts'
import { AccessTokens } from '../../src/oauth/grants/access-tokens.ts'
import { apiOf } from '../../src/oauth/grants/resource-indicator.ts'
import type { SpanSink } from '../../src/telemetry/span.ts'
import { newTokenKey } from '../../src/tokens/token-tags.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { Edge, type EdgeSettings, edgeConfig, listenAt } from './edge.ts'
import { until } from './until.ts'

export interface AiSettings extends Omit<EdgeSettings, 'ai'> {
  readonly gateway?: Partial<Gateway>
  readonly ai?: Partial<AiConfig>
  readonly clock?: Clock
  readonly spans?: SpanSink
  readonly lookup?: NameLookup
  /** Another store than the one in memory. */
  readonly storeUrl?: string
  /** One that is open, and closed by its owner, with an account. */
  readonly given?: { readonly store: Store; readonly account: string }
  /** Ms that a command of the store may take, and that tokens live on without it. */
  readonly commandTimeout?: number
  readonly grace?: number
  /** Whether limits are counted in the store, so that calls wait for it. */
  readonly countsInStore?: boolean
  /** Which addresses the webhooks of guards may have. */
  readonly webhooks?: Partial<ConstructorParameters<typeof GuardWebhooks>[0]>
  /** For responses on their way. */
  readonly room?: AnswerRoom
  /** By which budgets are looked after, in ms of their clock. */
  readonly budgets?: { readonly clock: Clock; readonly lookPeriod: number }
}

/** The keys that the edge unseals with. */
export const secrets = new SecretKeys(Buffer.alloc(32, 1))

export class AiEdge {
  readonly edge: Edge
  readonly store: Store
  readonly logs: LogQueue
  readonly account: string
  /** The value of a token that may run calls. */
  readonly token: string

  constructor(edge: Edge, store: Store, logs: LogQueue, account: string, token: string) {
    this.edge = edge
    this.store = store
    this.logs = logs
    this.account = account
    this.token = token
  }

  /** The base URL of REST routes for a client that resolves ai.test by itself, or asks 127.0.0.1 where that is the AI host. */
  get rest(): string {
    return `/client/v4/accounts/${this.account}/ai`
  }

  native(provider: string, gateway = 'default'): string {
    return `/v1/${this.account}/${gateway}/${provider}`
  }

  /** Makes a token, by default one that may run calls on this account, and gives its value. */
  async mint(changes: Partial<Token> & { readonly permissions?: readonly string[] } = {}): Promise<string> {
    const { permissions = ['AI Gateway Run'], ...fields } = changes
    const { value, digest } = mintToken()
    await this.store.tokens.insert({ ...tokenOf(this.account, digest, permissions), ...fields })
    return value
  }

  /** Changes the gateway `default`. */
  async change(changes: Partial<Gateway>): Promise<void> {
    const found = await this.store.gateways.get(this.account, 'default')
    await this.store.gateways.replace({ ...found!.record, ...changes }, found!.version)
  }

  /** Puts policies in effect for the gateway `default`. */
  async commit(policies: readonly Policy[]): Promise<void> {
    const { policySets } = this.store
    const owner = { account: routeOwner({ account: this.account, id: 'default' }), id: policySetId }
    const current = await policySets.get(owner.account, owner.id)
    const empty: PolicySet = { ...owner, commits: [], draft: null, createdAt: 0, modifiedAt: 0 }
    const set = current?.record ?? empty
    const commit = { id: randomBytes(16).toString('hex'), policies, createdAt: 0 }
    const record = { ...set, commits: [...set.commits, commit] }
    const isWritten = current
      ? await policySets.replace(record, current.version)
      : await policySets.insert(record)
    if (!isWritten) throw new Error('the policies were not written')
  }

  /** Gives the log entries, newest first, once `count` are written. */
  async logged(count: number): Promise<readonly LogSummary[]> {
    let items: readonly LogSummary[] = []
    await until(async () => {
      items = (await this.store.logs.list(this.account, 'default', everything)).items
      return items.length >= count
    })
    return items
  }

  /** Gives the latest entry with its payloads, once `count` are written. */
  async entry(count = 1): Promise<LogEntry> {
    const [latest] = await this.logged(count)
    return (await this.store.logs.get(this.account, 'default', latest!.id))!
  }
}

const everything = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 1000 } as const

/** Starts it; `providers` are base URLs by name, or more of their configuration. */
export async function startAi(
  t: TestContext,
  providers: Readonly<Record<string, string | Partial<ProviderConfig>>>,
  settings: AiSettings = {},
): Promise<AiEdge> {
  const {
    commandTimeout = 1_000,
    grace = 600_000,
    storeUrl = 'sqlite::memory:',
    clock,
    spans,
    lookup,
  } = settings
  const { given } = settings
  const store = given?.store ?? (await openStore(storeUrl, { commandTimeout }))
  const metrics = new EdgeMetrics()
  const log = createLogger('error', { write: () => {} })
  const prices = new PriceTable(settings.ai?.prices ?? [], settings.ai?.priceList ?? null)
  const meter = { usageOf, costOf: prices.costOf.bind(prices) }
  const logs = new LogQueue({ store, meter, metrics: metrics.ai, log })
  const time = clock && { clock }
  const budgets = new BudgetHolder({
    ...{ budgets: store.budgets, clock: clock ?? systemClock, log },
    metrics: metrics.budgets,
    ...settings.budgets,
  })
  const answers = new AnswerCache({
    ...{ store, secrets: () => secrets, metrics: metrics.answers, clock: clock ?? systemClock },
    bounds: () => answerBounds,
    memory: () => 2 ** 25,
    warnings: { warn: () => {} },
    ...(settings.room && { room: settings.room }),
  })
  const claimed = new ClaimedCalls({ store, clock: clock ?? systemClock, warnings: { warn: () => {} } })
  const guardWebhooks = new GuardWebhooks({
    ...{ secrets: () => secrets, clock: clock ?? systemClock, metrics: metrics.ai },
    warnings: { warn: () => {} },
    ...settings.webhooks,
  })
  const issuer = 'https://id.example'
  const places = { issuer, aiHosts: ['ai.test', '127.0.0.1'] }
  const access = new AccessTokens(store, resource => apiOf(resource, places))
  const tokens = new TokenVerifier({
    store,
    grace,
    metrics: metrics.ai,
    access,
    people: new PersonalTokens(store),
    ...time,
  })
  const gateways = new GatewayDirectory({ store, grace, ...time })
  const routes = new RouteDirectory({ store, grace, ...time })
  const custom = new CustomDirectory({ store, grace, ...time })
  const keys = new GatewayKeys({ store, secrets: () => secrets, log, ...time })
  const config = edgeConfig([], {
    ...settings,
    ai: {
      hosts: ['ai.test', '127.0.0.1'],
      ...settings.ai,
      providers: Object.entries(providers).map(providerOf),
    },
  })
  const limiter = settings.countsInStore
    ? new Limiter({ clock: clock ?? systemClock, counters: store.counters })
    : null
  const edge = new Edge(t, config, {
    metrics,
    ai: {
      tokens,
      gateways,
      routes,
      custom,
      keys,
      logs,
      budgets,
      prices,
      answers,
      claimed,
      guardWebhooks,
      issuer,
    },
    ...time,
    ...(limiter && { limiter }),
    ...(spans && { spans }),
    ...(lookup && { lookup }),
  })
  await listenAt(t, edge)
  t.after(async () => {
    await limiter?.close()
    await keys.close()
    await logs.close()
    await budgets.close()
    await answers.close()
    await claimed.close()
    await guardWebhooks.close()
    if (given === undefined) await store.close()
  })
  if (given !== undefined) return new AiEdge(edge, store, logs, given.account, '')
  const { account, value } = await fill(store, settings.gateway)
  return new AiEdge(edge, store, logs, account, value)
}

async function fill(
  store: Store,
  changes: Partial<Gateway> = {},
): Promise<{ account: string; value: string }> {
  const account = randomBytes(16).toString('hex')
  const { value, digest } = mintToken()
  await store.bootstrap({
    account: { id: account, name: 'test', createdAt: 0 },
    gateway: { ...gatewayOf(account), ...changes },
    token: tokenOf(account, digest, ['AI Gateway Run']),
    tokenKey: newTokenKey(0),
  })
  return { account, value }
}

const room = { bytes: 64 * 1024 * 1024, entries: 1_000 }
const answerBounds = { answer: 1024 * 1024, gateway: room, account: room, all: room }

function gatewayOf(account: string): Gateway {
  return {
    account,
    id: 'default',
    authentication: true,
    collectLogs: true,
    logManagement: 100_000,
    logManagementStrategy: 'DELETE_OLDEST',
    createdAt: 0,
    modifiedAt: 0,
  }
}

function tokenOf(account: string, digest: string, permissions: readonly string[]): Token {
  const groups = permissionGroups.filter(({ name }) => permissions.includes(name))
  return {
    account,
    id: randomBytes(16).toString('hex'),
    name: 'test',
    digest,
    status: 'active',
    policies: [
      { id: '0', effect: 'allow', permissionGroups: groups.map(({ id }) => id), accounts: [account] },
    ],
    notBefore: null,
    expiresOn: null,
    addressesIn: [],
    addressesNotIn: [],
    issuedOn: 0,
    modifiedOn: 0,
  }
}

/** Makes the configuration of a provider from its name, and its base URL or more. */
export function providerOf([name, given]: [string, string | Partial<ProviderConfig>]): ProviderConfig {
  const settings = typeof given === 'string' ? { url: given } : given
  return {
    name: name as ProviderConfig['name'],
    url: null,
    keys: [],
    keySources: [],
    keyVariables: [],
    speaks: 'openai',
    resources: [],
    project: null,
    identity: null,
    streamUsage: null,
    apis: null,
    models: null,
    tls: { verify: true, serverName: null, ca: null, identity: null },
    transport: usualTransport,
    proxy: null,
    ...settings,
  }
}

/** Writes a POST of JSON to ai.test with its length. */
export function call(path: string, body: string, ...fields: string[]): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: ai.test', 'Content-Type: application/json', ...fields]
  return `${lines.join('\r\n')}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${Buffer.from(body).toString('latin1')}`
}

/** Writes the answer of a provider. */
export function json(value: unknown, ...fields: string[]): string {
  const body = Buffer.from(JSON.stringify(value)).toString('latin1')
  const lines = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    ...fields,
    `Content-Length: ${body.length}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

/** A chat completion as OpenAI answers it. */
export const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_767_225_600,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello.', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
}
