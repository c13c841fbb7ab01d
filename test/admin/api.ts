// Runs an admin listener over a real store with one account, and asks its management API.

import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { Attention } from '../../src/admin/attention/attention.ts'
import { WebhookSender } from '../../src/admin/budget-alerts/webhook.ts'
import { GrantKeeper } from '../../src/admin/upkeep/grant-keeper.ts'
import { ManagementMetadata } from '../../src/admin/api/protected-resource.ts'
import { Refusals } from '../../src/admin/api/refusal-log.ts'
import { AdminServer } from '../../src/admin/server.ts'
import { WriteLimit } from '../../src/admin/api/write-limit.ts'
import { AiMetrics } from '../../src/metrics/counters/ai-metrics.ts'
import { createLogger } from '../../src/log/log.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import { RequestHistory } from '../../src/activity/request-history.ts'
import { SidePortAuth } from '../../src/net/http/side-port-auth.ts'
import { AccessTokens } from '../../src/oauth/grants/access-tokens.ts'
import { PersonalTokens } from '../../src/oauth/grants/personal-tokens.ts'
import { SecretKeys } from '../../src/base/secrets/secret-keys.ts'
import type { LogExportState } from '../../src/log-export/log-export.ts'
import type { LimitDifference } from '../../src/limits/limits-watch.ts'
import { Limiter } from '../../src/limits/limiter.ts'
import { LogSeries } from '../../src/ai-logs/series/log-series.ts'
import { openStore } from '../../src/store/open.ts'
import type { Token } from '../../src/store/records/records.ts'
import type { Store } from '../../src/store/contract/store.ts'
import { permissionGroups } from '../../src/permissions/permission-groups.ts'
import { createAccount } from '../../src/process/store/new-account.ts'
import type { Permission } from '../../src/permissions/permit.ts'
import { newTokenKey, TokenTags } from '../../src/tokens/token-tags.ts'
import { TokenVerifier } from '../../src/tokens/verify.ts'
import { assertOfCatalogue } from '../help/api-fault.ts'
import { ManualClock } from '../help/clock.ts'
import { account, tokenWith } from '../tokens/token-with.ts'
import { testProviders } from './providers/providers.ts'
import { testZones } from './zones/zones.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any
}

export interface Ask {
  /** An object is sent as JSON, text and bytes as they are. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The value of the token; the owner's unless given, none when null. */
  readonly token?: string | null
}

/** `wrap` may put something between the server and its store, `url` says where that is, `commandTimeout` how many ms it may take, and `patience` how many a reader waits for what needs attention. */
export async function startApi(
  t: TestContext,
  wrap: (store: Store) => Store = store => store,
  url = 'sqlite::memory:',
  commandTimeout = url.startsWith('sqlite:') ? 250 : 5_000,
  patience = 60_000,
) {
  const clock = new ManualClock()
  const kept = await openStore(url, { commandTimeout, clock, hasLogThread: true })
  t.after(() => kept.close())
  const owner = tokenWith({ policies: [allowing(permissionGroups.map(({ name }) => name))] })
  const first = {
    account: { id: account, name: 'first', createdAt: 0 },
    gateway: gatewayOf('default'),
    token: owner.token,
    tokenKey: newTokenKey(0),
  }
  await kept.bootstrap(first)
  const store = wrap(kept)
  const access = new AccessTokens(store, () => 'management')
  const tags = new TokenTags(store)
  const people = new PersonalTokens(store)
  const verifier = new TokenVerifier({
    store,
    access,
    people,
    clock,
    grace: 600_000,
    metrics: new AiMetrics(),
  })
  const bugs: unknown[] = []
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const keys = { current: new SecretKeys(randomBytes(32)) }
  const { zones, given } = testZones()
  const { providers, providersGiven } = testProviders()
  t.after(() => providersGiven.checker.close())
  // Without the log: what it says of a store that a busy machine holds up is nobody's subject.
  const limiter = new Limiter({ clock, counters: kept.counters })
  t.after(() => limiter.close())
  const metrics = new Metrics('0')
  const { managementRefusals: refused } = metrics
  const requests = new RequestHistory({ read: async () => [await metrics.snapshot()], clock })
  const instance = { version: '1.2.3', startedAt: clock.now(), workers: 2, priceDate: '2026-01-31', requests }
  const guards = {
    writes: new WriteLimit(limiter, { limit: 1e9, period: 300_000 }),
    refusals: new Refusals(log, refused),
  }
  /** Bounds how many changes each token may ask for in 5 minutes. */
  const limitWrites = (limit: number) => {
    guards.writes = new WriteLimit(limiter, { limit, period: 300_000 })
  }
  const issuer = 'https://id.example'
  const pages: { origin: string | null } = { origin: issuer }
  const grants = new GrantKeeper({ store, log, clock })
  t.after(() => grants.close())
  // Of a machine that has much else to do, nobody expects sums in 40 ms.
  const logSeries = new LogSeries(store, { timeout: 2_000 })
  t.after(() => logSeries.close())
  const attention = new Attention(store, { timeout: patience })
  t.after(() => attention.close())
  /** The limits that other machines have otherwise. */
  const limits: { differences: readonly LimitDifference[] } = { differences: [] }
  /** The state of the export of AI log entries. */
  const logExport: { state: LogExportState | null } = { state: null }
  const webhooks = { sender: new WebhookSender({ timeout: 500 }) }
  t.after(() => webhooks.sender.close())
  const facts = {
    unready: () => null,
    metricsAccess: 'direct' as const,
    metrics: async () => '',
    storeHealth: () => store,
    api: () => ({
      store,
      verifier,
      tags,
      clock,
      log,
      secrets: keys.current,
      zones,
      providers,
      aiOrigin: () => 'https://ai.example',
      issuer,
      grants,
      webhooks: webhooks.sender,
      logSeries,
      instance,
      attention,
      limits,
      logExport,
      pages: pages.origin,
      ...guards,
    }),
  }
  const sidePortAuth = new SidePortAuth(randomBytes(32))
  const server = new AdminServer(facts, bug => bugs.push(bug), sidePortAuth)
  server.apps = [new ManagementMetadata(() => issuer)]
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 })
  t.after(() => server.close())
  const origin = `http://127.0.0.1:${port}`

  /** Asks for a path below the account. */
  const ask = async (method: string, path: string, options: Ask = {}): Promise<Reply> => {
    const url = path.startsWith('/client/')
      ? `${origin}${path}`
      : `${origin}/client/v4/accounts/${account}${path}`
    const response = await fetch(url, { method, ...requestOf(options, owner.value) })
    const text = await response.text()
    const json = text === '' ? null : JSON.parse(text)
    for (const mistake of json?.errors ?? []) assertOfCatalogue(response.status, mistake)
    return { status: response.status, headers: response.headers, json }
  }

  /** Keeps another token of the account, allowing what is named. */
  const keepToken = async (permissions: readonly Permission[], members: Partial<Token> = {}) => {
    const made = tokenWith({ policies: [allowing(permissions)], ...members })
    await kept.tokens.insert(made.token)
    return made
  }

  /** Makes another account as the command line does, and returns its id. */
  const addAccount = async (name: string): Promise<string> =>
    (await createAccount(kept, name, clock.now())).account.id

  return {
    ask,
    keepToken,
    addAccount,
    owner,
    kept,
    webhooks,
    clock,
    origin,
    bugs,
    lines,
    keys,
    server,
    given,
    providersGiven,
    refused,
    metrics,
    requests,
    limitWrites,
    sidePortAuth,
    grants,
    pages,
    limits,
    logExport,
  }
}

/** Makes the policy of a token that allows what is named. */
export function allowing(
  permissions: readonly Permission[],
  accounts = [account],
): Token['policies'][number] {
  const ids = permissionGroups.filter(({ name }) => permissions.includes(name)).map(({ id }) => id)
  return { id: randomBytes(16).toString('hex'), effect: 'allow', permissionGroups: ids, accounts }
}

export function gatewayOf(id: string) {
  const logging = { collectLogs: true, logManagement: 1_000, logManagementStrategy: 'DELETE_OLDEST' as const }
  return { account, id, authentication: true, ...logging, createdAt: 0, modifiedAt: 0 }
}

function requestOf({ body, headers = {}, token }: Ask, owner: string): RequestInit {
  const authorization = token === null ? {} : { authorization: `Bearer ${token ?? owner}` }
  if (body === undefined) return { headers: { ...authorization, ...headers } }
  const isRaw = typeof body === 'string' || body instanceof Uint8Array
  return {
    headers: { ...authorization, 'content-type': 'application/json', ...headers },
    body: isRaw ? (body as string) : JSON.stringify(body),
  }
}
