// Copies a store to an empty one, such as from a file to Redis.

import { acmeOwner } from './acme.ts'
import type { CredentialKind } from './credential.ts'
import { batchOf } from './log-batch/writer.ts'
import type { OAuthClient } from './oauth-client.ts'
import { everybody, type User } from './people.ts'
import type { Account, Gateway } from './records.ts'
import type { AuditQuery, Position, Store } from './store.ts'
import { keyOwner } from './signing-key.ts'
import { ticketOwner } from './ticket-key.ts'
import { tokenKeyOwner } from './token-key.ts'
import { zoneOwner } from './zone-lists.ts'

/** How many of each kind were copied. */
interface CopyReport {
  readonly accounts: number
  readonly gateways: number
  readonly tokens: number
  readonly oauthClients: number
  readonly logEntries: number
  readonly auditEntries: number
  /** Error rules and access rules, a list of each per zone. */
  readonly ruleLists: number
  readonly errorPages: number
  readonly users: number
  readonly members: number
  readonly oauthGrants: number
  /** Sessions, invitations and tokens. */
  readonly credentials: number
  readonly authorizationEvents: number
  readonly signingKeys: number
  readonly acmeAccounts: number
  readonly certificates: number
}

type Counts = { -readonly [Kind in keyof CopyReport]: CopyReport[Kind] }

const pageSize = 100

/** The credentials that outlive a copy. */
const lasting = [
  'session',
  'invitation',
  'ended_family',
  'token_family',
  'access_token',
  'refresh_token',
] satisfies CredentialKind[]

/**
 * Copies everything, logs and the keys of TLS sessions included, except what lasts for a day or less: stored responses to requests with an Idempotency-Key, and sign-ins and authorizations under way.
 * Versions of records start over. Rejects with a sentence that names the store that failed, and says what was copied.
 */
export async function copyStore(from: Store, to: Store): Promise<CopyReport> {
  const accounts = await accountsToCopy(from, to)
  const mark = await at(from, from.adopt())
  const counts: Counts = {
    accounts: 0,
    gateways: 0,
    tokens: 0,
    oauthClients: 0,
    logEntries: 0,
    auditEntries: 0,
    ruleLists: 0,
    errorPages: 0,
    users: 0,
    members: 0,
    oauthGrants: 0,
    credentials: 0,
    authorizationEvents: 0,
    signingKeys: 0,
    acmeAccounts: 0,
    certificates: 0,
  }
  try {
    for await (const key of each(from, from.tokenKeys.walk(tokenKeyOwner)))
      expectNew(await at(to, to.tokenKeys.insert(key)), 'key of tokens', key.id)
    // Else every client would begin with a full handshake, all at once.
    for await (const key of each(from, from.ticketKeys.walk(ticketOwner)))
      expectNew(await at(to, to.ticketKeys.insert(key)), 'key of TLS sessions', key.id)
    for (const account of accounts) await copyAccount(from, to, account, counts)
    await copyZones(from, to, counts)
    await copyPeople(from, to, counts)
    await copyAcme(from, to, counts)
    // Machines that have seen the other store go on with this one, unless it lacks what they have seen.
    await at(to, to.continueAs(mark))
    return counts
  } catch (cause) {
    throw new Error(
      `the copy to ${to.location} is incomplete: ${(cause as Error).message}. Copied so far: ${inWords(counts)}. Empty it and copy again`,
      { cause },
    )
  }
}

/** Formats the counts for a person, without those that are 0. */
export function inWords(report: CopyReport): string {
  const kinds = [
    count(report.accounts, 'account'),
    count(report.gateways, 'gateway'),
    count(report.tokens, 'token'),
    count(report.oauthClients, 'OAuth client'),
    count(report.logEntries, 'log entry', 'log entries'),
    count(report.auditEntries, 'audit entry', 'audit entries'),
    count(report.ruleLists, 'rule list'),
    count(report.errorPages, 'error page'),
    count(report.users, 'user'),
    count(report.members, 'member'),
    count(report.oauthGrants, 'OAuth grant'),
    count(report.credentials, 'session or OAuth token', 'sessions and OAuth tokens'),
    count(report.authorizationEvents, 'authorization event'),
    count(report.signingKeys, 'signing key'),
    count(report.acmeAccounts, 'ACME account'),
    count(report.certificates, 'certificate'),
  ].filter(words => words !== null)
  return kinds.length < 2 ? (kinds[0] ?? 'nothing') : `${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`
}

async function accountsToCopy(from: Store, to: Store): Promise<readonly Account[]> {
  try {
    const accounts = await at(from, from.accounts.list())
    if (accounts.length === 0) throw new Error(`${from.location} has no account`)
    if ((await at(to, to.accounts.list())).length > 0)
      throw new Error(`${to.location} already has an account: the target must be an empty store`)
    return accounts
  } catch (cause) {
    throw new Error(`nothing was copied: ${(cause as Error).message}`, { cause })
  }
}

async function copyAccount(from: Store, to: Store, account: Account, counts: Counts): Promise<void> {
  expectNew(await at(to, to.accounts.insert(account)), 'account', account.id)
  counts.accounts++
  await copyTokens(from, to, account, counts)
  for await (const client of each(from, from.oauthClients.walk(account.id))) {
    expectNew(await at(to, to.oauthClients.insert(client)), 'OAuth client', client.id)
    counts.oauthClients++
    await copyEvents(from, to, client, counts)
  }
  for await (const member of each(from, from.members.walk(account.id))) {
    expectNew(await at(to, to.members.insert(member)), 'member', member.id)
    counts.members++
  }
  for await (const grant of each(from, from.oauthGrants.walk(account.id))) {
    expectNew(await at(to, to.oauthGrants.insert(grant)), 'OAuth grant', grant.id)
    counts.oauthGrants++
  }
  for await (const gateway of each(from, from.gateways.walk(account.id))) {
    expectNew(await at(to, to.gateways.insert(gateway)), 'gateway', gateway.id)
    counts.gateways++
    await copyLogs(from, to, gateway, counts)
  }
  await copyAudit(from, to, account, counts)
}

async function copyTokens(from: Store, to: Store, { id: account }: Account, counts: Counts): Promise<void> {
  for await (const tokens of eachAt(from, from.tokens.walk(account))) {
    for (const token of tokens) {
      expectNew(await at(to, to.tokens.insert(token)), 'token', token.id)
      counts.tokens++
    }
    const ids = tokens.map(({ id }) => id)
    const uses = await at(from, from.tokens.lastUses(account, ids))
    await at(to, to.tokens.noteUses([...uses].map(([id, at]) => ({ account, id, at }))))
  }
}

async function copyLogs(from: Store, to: Store, gateway: Gateway, counts: Counts): Promise<void> {
  const { account, id } = gateway
  // The source's entries are all copied, even if a limit was lowered since.
  const limit = { most: Number.MAX_SAFE_INTEGER, strategy: 'STOP_INSERTING' } as const
  for await (const entries of eachAt(from, from.logs.entries(account, id))) {
    const kept = await at(to, to.logs.append(account, id, batchOf(entries), limit))
    counts.logEntries += kept
    if (kept < entries.length) throw new Error(`the gateway ${id} was deleted during the copy`)
  }
}

async function copyAudit(from: Store, to: Store, { id }: Account, counts: Counts): Promise<void> {
  const all = { since: null, before: null, descending: false } as const
  for (let after: Position | null = null; ; ) {
    const page: AuditQuery = { ...all, offset: 0, limit: pageSize, after }
    const { items: entries } = await at(from, from.audit.list(id, page))
    // In parallel, since there may be many and each waits for the disk.
    await Promise.all(entries.map(entry => at(to, to.audit.append(entry))))
    counts.auditEntries += entries.length
    if (entries.length < pageSize) return
    after = entries.at(-1)!
  }
}

async function copyZones(from: Store, to: Store, counts: Counts): Promise<void> {
  for await (const rules of each(from, from.errorRules.walk(zoneOwner))) {
    expectNew(await at(to, to.errorRules.insert(rules)), 'list of error rules', rules.id)
    counts.ruleLists++
  }
  for await (const rules of each(from, from.accessRules.walk(zoneOwner))) {
    expectNew(await at(to, to.accessRules.insert(rules)), 'list of access rules', rules.id)
    counts.ruleLists++
  }
  for await (const page of each(from, from.errorPages.walk(zoneOwner))) {
    expectNew(await at(to, to.errorPages.insert(page)), 'error page', page.id)
    counts.errorPages++
  }
}

async function copyEvents(from: Store, to: Store, client: OAuthClient, counts: Counts): Promise<void> {
  const events = await at(from, from.authorizationEvents.list(client.account, client.id))
  for (const event of events.toReversed()) {
    await at(to, to.authorizationEvents.append(event))
    counts.authorizationEvents++
  }
}

async function copyPeople(from: Store, to: Store, counts: Counts): Promise<void> {
  for await (const user of each(from, from.users.walk(everybody))) {
    expectNew(await at(to, to.users.insert(user)), 'user', user.id)
    counts.users++
    await copyCredentials(from, to, user, counts)
  }
  for await (const key of each(from, from.signingKeys.walk(keyOwner))) {
    expectNew(await at(to, to.signingKeys.insert(key)), 'signing key', key.id)
    counts.signingKeys++
  }
}

/** Copies the certificates that were issued, and no orders: the gateways of the other store may go on with them. */
async function copyAcme(from: Store, to: Store, counts: Counts): Promise<void> {
  for await (const account of each(from, from.acmeAccounts.walk(acmeOwner))) {
    expectNew(await at(to, to.acmeAccounts.insert(account)), 'ACME account', account.id)
    counts.acmeAccounts++
  }
  for await (const certificate of each(from, from.certificates.walk(acmeOwner))) {
    const settled = { ...certificate, order: null, lease: null }
    expectNew(await at(to, to.certificates.insert(settled)), 'certificate', certificate.id)
    counts.certificates++
  }
}

async function copyCredentials(from: Store, to: Store, { id }: User, counts: Counts): Promise<void> {
  for (const kind of lasting) {
    const credentials = await at(from, from.credentials.list({ user: id }, kind, Infinity))
    for (let first = 0; first < credentials.length; first += pageSize)
      await at(to, to.credentials.putAll(credentials.slice(first, first + pageSize)))
    counts.credentials += credentials.length
  }
}

async function* each<T>(store: Store, parts: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const items of eachAt(store, parts)) yield* items
}

function expectNew(isNew: boolean, kind: string, id: string): void {
  if (!isNew) throw new Error(`the ${kind} ${id} already exists`)
}

/** Prefixes failures with the location of the store. */
function at<T>(store: Store, work: Promise<T>): Promise<T> {
  return work.catch(cause => fail(store, cause))
}

async function* eachAt<T>(store: Store, items: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* items
  } catch (cause) {
    fail(store, cause)
  }
}

function fail({ location }: Store, cause: unknown): never {
  throw new Error(`${location}: ${(cause as Error).message}`, { cause })
}

function count(number: number, one: string, many = `${one}s`): string | null {
  return number === 0 ? null : `${number} ${number === 1 ? one : many}`
}
