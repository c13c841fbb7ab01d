// Finds what needs attention in an account, a few records at a time.

import type { RequestHistory } from '../../activity/request-history.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { rulesOfGateway, rulesOfToken } from '../../budgets/buckets.ts'
import type { HostCertificateInfo } from '../../certificates/host-certificates.ts'
import { lacksSecondFactor } from '../../people/second-factor/second-factor.ts'
import type { LimitsWatch } from '../../limits/limits-watch.ts'
import type { LogExportState } from '../../log-export/log-export.ts'
import type { Permission } from '../../permissions/permit.ts'
import { budgetAlertSetId } from '../../store/records/budget-alerts.ts'
import { routeOwner } from '../../store/records/model-route.ts'
import type { OAuthClient } from '../../store/records/oauth-client.ts'
import type { Account, Gateway, Token } from '../../store/records/records.ts'
import type { Store } from '../../store/contract/store.ts'
import { usersOf } from '../records/member-users.ts'
import { policiesInEffect } from '../facts/policies-in-effect.ts'
import type { ProviderFact } from '../facts/provider-facts.ts'
import { refusedCalls, undecidedCalls } from '../facts/refused-calls.ts'
import type { OriginState, PoolState } from '../facts/zone-facts.ts'
import { type LimitState, limitsOfPolicies, limitsOfRules, limitStates } from './budgets.ts'

export const severities = ['critical', 'warning', 'info'] as const

export const findingKinds = [
  'store_degraded',
  'store_unsafe',
  'budgets_uncounted',
  'limits_differ',
  'log_export_failing',
  'origin_down',
  'certificate_expiring',
  'certificate_failing',
  'provider_key_failing',
  'secret_unreadable',
  'verification_failed',
  'verification_ending',
  'log_full',
  'budget_spent',
  'budget_refusing',
  'budget_alert_failing',
  'guard_webhook_failing',
  'gateway_open',
  'second_factor_missing',
  'few_super_administrators',
  'token_expiring',
  'token_unused',
  'secret_rotation_unfinished',
  'secret_unused',
] as const
export type FindingKind = (typeof findingKinds)[number]

export interface Finding {
  readonly kind: FindingKind
  readonly severity: (typeof severities)[number]
  readonly message: string
  /** The resource to link to; null for the account or the gateway as a whole. */
  readonly resource: Resource | null
}

interface Resource {
  readonly type: 'oauth_client' | 'gateway' | 'token' | 'member' | 'zone' | 'provider'
  readonly id: string
  readonly name: string
}

export interface Scene {
  readonly store: Store
  readonly secrets: SecretKeys
  readonly account: string
  readonly now: number
  readonly limits: Pick<LimitsWatch, 'differences'>
  readonly requests: Pick<RequestHistory, 'uncountedBudgets'>
  readonly logExport: LogExportState | null
  readonly certificates: () => Promise<
    readonly (readonly [zone: string, certificates: readonly HostCertificateInfo[]])[]
  >
  readonly providers: () => Promise<readonly Pick<ProviderFact, 'id' | 'name' | 'keys'>[]>
  readonly pools: () => Promise<readonly (readonly [zone: string, pools: readonly PoolState[]])[]>
}

type Find = (scene: Scene) => AsyncGenerator<Finding>

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Searches by permission; the permission must also show the records that a search reads. */
export const finds: readonly (readonly [permission: Permission, find: Find])[] = [
  ['Metrics Read', inStore],
  ['Metrics Read', inBudgets],
  ['Metrics Read', inMachines],
  ['Metrics Read', inExport],
  ['Origins Read', inZones],
  ['Zones Read', inCertificates],
  ['AI Gateway Read', inGateways],
  ['AI Gateway Read', inProviders],
  ['Members Read', inMembers],
  ['API Tokens Read', inTokens],
  ['OAuth Clients Read', inClients],
]

async function* inStore({ store }: Scene): AsyncGenerator<Finding> {
  const { refusal, degradation } = store
  for (const { message: what, remedy } of degradation.reasons) {
    const message = `The store is not trusted, and no change is confirmed: ${what}. ${remedy}.`
    yield { kind: 'store_degraded', severity: 'critical', message, resource: null }
  }
  const kind = 'store_unsafe'
  if (refusal !== null)
    yield {
      kind,
      severity: 'critical',
      message: `The store does not confirm writes: ${refusal}`,
      resource: null,
    }
  for (const message of await store.durability()) yield { kind, severity: 'warning', message, resource: null }
}

async function* inBudgets({ requests }: Scene): AsyncGenerator<Finding> {
  if (requests.uncountedBudgets === 0) return
  const message =
    'The store takes no writes or is slow, so spend limits of AI calls cannot be counted. Closed limits refuse calls with 503; open ones admit them.'
  yield { kind: 'budgets_uncounted', severity: 'critical', message, resource: null }
}

async function* inMachines({ limits }: Scene): AsyncGenerator<Finding> {
  for (const { rule, limits: values } of limits.differences) {
    const each = values.map(({ limit, machines }) => `${limit} on ${machines.join(', ')}`)
    const message = `Machines on the store have different limits for ${rule}: ${each.join('; ')}.`
    yield { kind: 'limits_differ', severity: 'warning', message: message.slice(0, 500), resource: null }
  }
}

async function* inExport({ logExport, now }: Scene): AsyncGenerator<Finding> {
  if (logExport === null || logExport.failure === null) return
  const { failure, waiting, maxDisk } = logExport
  const { since, message: why, isPermanent } = failure
  if (!isPermanent && now - since < minute) return
  const share = Math.floor((100 * (waiting?.bytes ?? 0)) / maxDisk)
  const next = isPermanent ? 'Nothing is sent until that is changed' : 'It is tried again and again'
  const message = `AI log entries have not been exported for ${span(now - since)}: ${why}. ${next}; ${waiting?.entries ?? 0} entries wait in ${share}% of ai.log_export.max_disk, beyond which the oldest are dropped.`
  const severity = isPermanent || share >= 80 ? 'critical' : 'warning'
  yield { kind: 'log_export_failing', severity, message, resource: null }
}

const badStates: ReadonlySet<OriginState['state']> = new Set(['failing', 'ejected', 'down'])

async function* inZones({ pools }: Scene): AsyncGenerator<Finding> {
  for (const [zone, all] of await pools())
    for (const { pool, origins } of all) {
      const down = origins.filter(({ state }) => badStates.has(state))
      if (down.length === 0) continue
      const isAll = down.length === origins.length
      const which = isAll ? 'All origins' : `${down.length} of ${origins.length} origins`
      const isFailing = down.some(({ state }) => state === 'failing')
      const message = `${which} of the pool ${pool} ${isFailing ? 'fail their requests or get none' : 'get no requests'}: ${down
        .map(({ url }) => url)
        .join(', ')
        .slice(0, 300)}.`
      const resource = { type: 'zone', id: zone, name: zone } as const
      yield { kind: 'origin_down', severity: isAll ? 'critical' : 'warning', message, resource }
    }
}

async function* inCertificates({ certificates, now }: Scene): AsyncGenerator<Finding> {
  for (const [zone, holdings] of await certificates())
    for (const { host, source, state, notAfter, lastError } of holdings) {
      const resource = { type: 'zone', id: zone, name: zone } as const
      const left = notAfter === null ? Infinity : notAfter - now
      const why = lastError === null ? '' : `: ${lastError.message}`
      const isFailing = state === 'failing' || state === 'unreadable'
      if (isFailing && notAfter === null) {
        const message = `No certificate could be got for ${host}${why}`
        yield { kind: 'certificate_failing', severity: 'critical', message, resource }
      } else if (left <= 0) {
        const message = `The certificate for ${host} has expired${why}`
        yield { kind: 'certificate_expiring', severity: 'critical', message, resource }
      } else if (state === 'not_yet_valid') {
        const message = `The certificate for ${host} is not valid yet, and clients refuse it.`
        yield { kind: 'certificate_failing', severity: 'critical', message, resource }
      } else if (isFailing) {
        const message = `The certificate for ${host} expires in ${span(left)}, and its renewal fails${why}`
        yield { kind: 'certificate_failing', severity: 'warning', message, resource }
      } else if (left < 14 * day && source === 'file') {
        const message = `The certificate for ${host} expires in ${span(left)}.`
        yield { kind: 'certificate_expiring', severity: 'warning', message, resource }
      }
    }
}

async function* inGateways({ store, account, now }: Scene): AsyncGenerator<Finding> {
  const refused = await refusedCalls(account, store, now)
  const undecided = await undecidedCalls(account, store, now)
  for await (const gateways of store.gateways.walk(account)) {
    const ofEach = gateways.map(async one => [one, await policiesInEffect(one, store)] as const)
    const policies = new Map(await Promise.all(ofEach))
    const limitsOf = (gateway: Gateway) => [
      ...limitsOfRules(rulesOfGateway(gateway), now),
      ...limitsOfPolicies(gateway, policies.get(gateway)!, now),
    ]
    const states = await limitStates(gateways, { store, limitsOf, refused })
    for (const [{ id }, state] of states)
      yield ofLimit(state, `the gateway ${id}`, { type: 'gateway', id, name: id }, now)
    for (const gateway of gateways) {
      yield* inAlerts(store, gateway)
      const { id, authentication, logManagement: maxEntries, logManagementStrategy } = gateway
      const resource = { type: 'gateway', id, name: id } as const
      yield* inGuard(gateway, undecided.get(id) ?? 0)
      if (!authentication && (await hasCalls(store, gateway, now))) {
        const message = `The gateway ${id} requires no token, and got calls in the last 7 days.`
        yield { kind: 'gateway_open', severity: 'warning', message, resource }
      }
      if (logManagementStrategy !== 'STOP_INSERTING' || maxEntries === 0) continue
      if ((await store.logs.count(account, id)) < maxEntries) continue
      const message = `The log of the gateway ${id} is at its limit of ${maxEntries} entries, and stores no more.`
      yield { kind: 'log_full', severity: 'warning', message, resource }
    }
  }
}

function* inGuard({ id, guard }: Gateway, undecided: number): Generator<Finding> {
  if (undecided === 0 || !guard?.webhook) return
  const calls = undecided === 1 ? 'call, which was refused' : 'calls, which were refused'
  const message = `In the last hour, the webhook of the guard of the gateway ${id} gave no verdict about ${undecided} ${calls}.`
  const resource = { type: 'gateway', id, name: id } as const
  yield { kind: 'guard_webhook_failing', severity: 'critical', message, resource }
}

async function* inAlerts({ budgetAlertSets }: Store, gateway: Gateway): AsyncGenerator<Finding> {
  const set = await budgetAlertSets.get(routeOwner(gateway), budgetAlertSetId)
  const failing = set?.record.deliveries.findLast(({ failure }) => failure !== null)
  if (failing === undefined) return
  const { id } = gateway
  const next = failing.nextAt === null ? 'It was given up' : 'It is tried again'
  const message = `A budget alert of the gateway ${id} is not delivered: ${failing.failure}. ${next}.`
  const resource = { type: 'gateway', id, name: id } as const
  yield { kind: 'budget_alert_failing', severity: 'warning', message, resource }
}

/** Calls that do not fit are refused before all of a limit is spent. */
function ofLimit(
  { rule, part, refused, until }: LimitState,
  owner: string,
  resource: Resource,
  now: number,
): Finding {
  const { words, id } = rule
  const isOfPolicy = rule.owner === 'policy'
  const what = isOfPolicy ? `limit of ${words} (policy ${rule.name})` : `spend limit of ${words} (${id})`
  const name = `The ${what} of ${owner}`
  const refusals = `refused ${refused} ${refused === 1 ? 'call' : 'calls'} in the last day`
  if (part === null)
    return { kind: 'budget_refusing', severity: 'info', message: `${name} ${refusals}.`, resource }
  const end = until === null ? '' : ` It starts over in ${span(until - now)}.`
  const message = `${name} is ${Math.floor(part * 100)}% spent${refused > 0 ? `, and ${refusals}` : ''}.${end}`
  return { kind: 'budget_spent', severity: refused > 0 ? 'critical' : 'warning', message, resource }
}

/** All places of a provider share the key that is made. */
async function* inProviders({ providers }: Scene): AsyncGenerator<Finding> {
  const seen = new Set<string>()
  for (const { id, name, keys } of await providers()) {
    const failing = keys.find(({ made }) => made !== null && made.failing > 0)
    if (failing === undefined || seen.has(name)) continue
    seen.add(name)
    const isNone = failing.made!.expiresAt === 0
    const message = isNone
      ? `No key for ${name} can be made, so that calls to it fail.`
      : `The key for ${name} cannot be renewed, and calls to it fail once it expires.`
    const resource = { type: 'provider', id, name } as const
    yield { kind: 'provider_key_failing', severity: isNone ? 'critical' : 'warning', message, resource }
  }
}

async function hasCalls({ logs }: Store, { account, id }: Gateway, now: number): Promise<boolean> {
  const newest = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 1 } as const
  const [latest] = (await logs.list(account, id, newest)).items
  return latest !== undefined && latest.createdAt > now - 7 * day
}

async function* inMembers({ store, account }: Scene): AsyncGenerator<Finding> {
  const settings: Account | null = await store.accounts.get(account)
  if (settings === null) return
  let [supers, members] = [0, 0]
  for await (const some of store.members.walk(account)) {
    const accepted = some.filter(({ status }) => status === 'accepted')
    members += accepted.length
    supers += accepted.filter(({ isSuper }) => isSuper).length
    if (settings.enforceTwoFactor !== true) continue
    const users = await usersOf(store.users, accepted)
    for (const { id, user } of accepted) {
      const record = users.get(user)
      if (record === undefined || !lacksSecondFactor(record, settings)) continue
      const message = `The account requires a second factor that ${record.email} does not have.`
      const resource = { type: 'member', id, name: record.email } as const
      yield { kind: 'second_factor_missing', severity: 'warning', message, resource }
    }
  }
  if (members === 0 || supers > 1) return
  const message =
    'The account has only one super administrator: add another one, in case that person loses access.'
  yield { kind: 'few_super_administrators', severity: 'info', message, resource: null }
}

async function* inTokens({ store, account, now }: Scene): AsyncGenerator<Finding> {
  const refused = await refusedCalls(account, store, now)
  for await (const tokens of store.tokens.walk(account)) {
    const limitsOf = (token: Token) => limitsOfRules(rulesOfToken(token), now)
    const states = await limitStates(tokens, { store, limitsOf, refused })
    for (const [{ id, name }, state] of states)
      yield ofLimit(state, `the API token ${name}`, { type: 'token', id, name }, now)
    const ids = tokens.map(({ id }) => id)
    const uses = await store.tokens.lastUses(account, ids)
    for (const token of tokens) yield* ofToken(token, uses.get(token.id) ?? null, now)
  }
}

function* ofToken(token: Token, lastUsed: number | null, now: number): Generator<Finding> {
  const { id, name, status, notBefore, expiresOn, issuedOn } = token
  if (status !== 'active' || (expiresOn !== null && expiresOn < now)) return
  const resource = { type: 'token', id, name } as const
  if (expiresOn !== null && expiresOn <= now + 7 * day) {
    const message = `The API token ${name} expires in ${span(expiresOn - now)}.`
    yield { kind: 'token_expiring', severity: 'warning', message, resource }
  }
  const unused = now - (lastUsed ?? Math.max(issuedOn, notBefore ?? 0))
  if (unused < 90 * day) return
  const message = `The API token ${name} was not used for ${span(unused)}.`
  yield { kind: 'token_unused', severity: 'info', message, resource }
}

async function* inClients({ store, account, secrets, now }: Scene): AsyncGenerator<Finding> {
  for await (const clients of store.oauthClients.walk(account))
    for (const client of clients) yield* ofClient(client, secrets, now)
}

function* ofClient(client: OAuthClient, keys: SecretKeys, now: number): Generator<Finding> {
  const { id, name, secrets, verification } = client
  const resource = { type: 'oauth_client', id, name } as const
  if (secrets.some(({ key }) => !keys.knows(key))) {
    const message = `A secret of ${name} cannot be checked: the server key that protects it is missing.`
    yield { kind: 'secret_unreadable', severity: 'critical', message, resource }
  }
  const [newest] = secrets
  if (secrets.length > 1 && newest!.createdAt < now - 7 * day) {
    const message = `${name} was given a new secret ${span(now - newest!.createdAt)} ago, and the old one still works.`
    yield { kind: 'secret_rotation_unfinished', severity: 'warning', message, resource }
  }
  for (const { tail, createdAt, lastUsedAt } of secrets) {
    const unused = now - (lastUsedAt ?? createdAt)
    if (unused < 90 * day) continue
    const message = `The secret of ${name} that ends in ${tail} was not used for ${span(unused)}.`
    yield { kind: 'secret_unused', severity: 'info', message, resource }
  }
  if (verification?.status === 'failed') {
    const message = `The domain ${verification.host} of ${name} was not verified in time.`
    yield { kind: 'verification_failed', severity: 'warning', message, resource }
  } else if (verification && verification.nextCheckAt !== null && verification.deadline < now + 6 * hour) {
    const message = `The verification of ${verification.host} for ${name} ends in ${span(Math.max(0, verification.deadline - now))}.`
    yield { kind: 'verification_ending', severity: 'warning', message, resource }
  }
}

function span(ms: number): string {
  const [count, unit] =
    ms >= 2 * day ? [ms / day, 'days'] : ms >= 2 * hour ? [ms / hour, 'hours'] : [ms / 60_000, 'minutes']
  return `${Math.floor(count)} ${unit}`
}
