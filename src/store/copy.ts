// Copies a store to an empty one, such as from a file to Redis.

import { batchOf } from './log-batch/writer.ts'
import type { Account, Gateway } from './records.ts'
import type { AuditQuery, Position, Store } from './store.ts'
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
}

type Counts = { -readonly [Kind in keyof CopyReport]: CopyReport[Kind] }

const pageSize = 100

/**
 * Copies everything, logs included, except stored responses to requests with an Idempotency-Key, which last only a day; versions of records start over. Rejects
 * with a sentence that names the store that failed, and says what was copied.
 */
export async function copyStore(from: Store, to: Store): Promise<CopyReport> {
  const accounts = await accountsToCopy(from, to)
  const counts: Counts = {
    accounts: 0,
    gateways: 0,
    tokens: 0,
    oauthClients: 0,
    logEntries: 0,
    auditEntries: 0,
    ruleLists: 0,
    errorPages: 0,
  }
  try {
    for (const account of accounts) await copyAccount(from, to, account, counts)
    await copyZones(from, to, counts)
    return counts
  } catch (cause) {
    throw new Error(
      `the copy to ${to.location} is incomplete: ${(cause as Error).message}. Copied so far: ${inWords(counts)}. Empty it and copy again`,
      { cause },
    )
  }
}

/** Formats the counts for a person. */
export function inWords(report: CopyReport): string {
  const { accounts, gateways, tokens, oauthClients, logEntries, auditEntries, ruleLists, errorPages } = report
  const kinds = [
    count(accounts, 'account'),
    count(gateways, 'gateway'),
    count(tokens, 'token'),
    count(oauthClients, 'OAuth client'),
    count(logEntries, 'log entry', 'log entries'),
    count(auditEntries, 'audit entry', 'audit entries'),
    count(ruleLists, 'rule list'),
  ]
  return `${kinds.join(', ')} and ${count(errorPages, 'error page')}`
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
  for await (const token of each(from, from.tokens.walk(account.id))) {
    expectNew(await at(to, to.tokens.insert(token)), 'token', token.id)
    counts.tokens++
  }
  for await (const client of each(from, from.oauthClients.walk(account.id))) {
    expectNew(await at(to, to.oauthClients.insert(client)), 'OAuth client', client.id)
    counts.oauthClients++
  }
  for await (const gateway of each(from, from.gateways.walk(account.id))) {
    expectNew(await at(to, to.gateways.insert(gateway)), 'gateway', gateway.id)
    counts.gateways++
    await copyLogs(from, to, gateway, counts)
  }
  await copyAudit(from, to, account, counts)
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

function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}
