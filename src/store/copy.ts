// Copies a store to an empty one, for example from a file to Redis.

import { acmeOwner } from './records/acme.ts'
import type { CredentialKind } from './records/credential.ts'
import { batchOf } from './log-batch/batch.ts'
import { isMoved, movedIdentity, originalIdentity, type Seen } from './contract/mark.ts'
import type { OAuthClient } from './records/oauth-client.ts'
import { everybody, type Member, type User } from './records/people.ts'
import type { Account, Gateway } from './records/records.ts'
import {
  type AuditQuery,
  LastSuperAdministrator,
  type Position,
  type Records,
  type Store,
} from './contract/store.ts'
import { keyOwners } from './records/signing-key.ts'
import { keyNoteOf, writeKeyNote } from './contract/key-note.ts'
import { routeOwner } from './records/model-route.ts'
import { noteOwner, type StoreNote } from './records/store-note.ts'
import { ticketOwner } from './records/ticket-key.ts'
import { tokenKeyOwner } from './records/token-key.ts'
import { zoneOwner } from './records/zone-lists.ts'

/** What is copied, in the singular and plural; rule lists are the error rules and access rules of a zone. */
const copied = {
  accounts: ['account', 'accounts'],
  gateways: ['gateway', 'gateways'],
  modelRoutes: ['dynamic route', 'dynamic routes'],
  policySets: ['set of policies', 'sets of policies'],
  budgetAlertSets: ['set of budget alerts', 'sets of budget alerts'],
  customProviders: ['custom provider', 'custom providers'],
  tokens: ['token', 'tokens'],
  oauthClients: ['OAuth client', 'OAuth clients'],
  budgets: ['budget', 'budgets'],
  claims: ['claim of an AI call', 'claims of AI calls'],
  logEntries: ['log entry', 'log entries'],
  auditEntries: ['audit entry', 'audit entries'],
  ruleLists: ['rule list', 'rule lists'],
  errorPages: ['error page', 'error pages'],
  users: ['user', 'users'],
  members: ['member', 'members'],
  oauthGrants: ['OAuth grant', 'OAuth grants'],
  credentials: ['session or OAuth token', 'sessions and OAuth tokens'],
  authorizationEvents: ['authorization event', 'authorization events'],
  signingKeys: ['signing key', 'signing keys'],
  acmeAccounts: ['ACME account', 'ACME accounts'],
  certificates: ['certificate', 'certificates'],
} as const

type Kind = keyof typeof copied
export type CopyReport = Readonly<Record<Kind, number>>
type Counts = Record<Kind, number>

const pageSize = 100

/** The credentials that are copied, as they live longer than a copy takes. */
const lasting = [
  'session',
  'invitation',
  'ended_family',
  'token_family',
  'access_token',
  'refresh_token',
  'site_session',
] satisfies CredentialKind[]

/**
 * Copies everything, including logs and the keys of TLS sessions, except cached answers of AI models and what
 * lasts for a day or less and costs nothing to lose: stored responses to requests with an Idempotency-Key,
 * sign-ins and authorizations in progress. Versions of records start over. Until the copy is complete, a note
 * in the target says so; a target with that note is emptied first and then filled as any other. Rejects with
 * a sentence that names the store that failed and says what was copied.
 */
export async function copyStore(from: Store, to: Store, now = Date.now()): Promise<CopyReport> {
  const accounts = await accountsToCopy(from, to)
  const mark = await at(from, from.adopt())
  return copyAll({ from, to, accounts, mark, now })
}

/**
 * Copies as `copyStore` does, after stopping the source from confirming changes. If the copy fails or is
 * aborted, the source confirms changes again, unless an earlier attempt had already stopped it.
 */
export async function moveStore(
  from: Store,
  to: Store,
  { now = Date.now(), signal }: { readonly now?: number; readonly signal?: AbortSignal } = {},
): Promise<CopyReport> {
  const accounts = await accountsToCopy(from, to)
  const before = await at(from, from.adopt())
  await expectUnmoved(from, to, before)
  const identity = movedIdentity(before.identity)
  signal?.throwIfAborted()
  try {
    await at(from, from.continueAs({ ...before, identity }))
    // Includes the changes made until then.
    const mark = await at(from, from.adopt())
    return await untilAborted(signal, settled => {
      const settle = async () => {
        await expectMoved(from, identity)
        settled()
        await at(from, noteMove(from.notes, `${identity} ${to.location}`, now))
      }
      return copyAll({ from, to, accounts, mark, now, settle })
    })
  } catch (cause) {
    if (!isMoved(before)) await reopen(from, before, { identity, cause: cause as Error })
    throw cause
  }
}

/**
 * Runs `work`, which calls `settled` before its irreversible step. Rejects as soon as the signal is aborted
 * before that step; `settled` then throws.
 */
async function untilAborted<T>(
  signal: AbortSignal | undefined,
  work: (settled: () => void) => Promise<T>,
): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal?.reason)
  signal?.throwIfAborted()
  signal?.addEventListener('abort', stop)
  const settled = () => {
    signal?.throwIfAborted()
    signal?.removeEventListener('abort', stop)
  }
  return Promise.race([work(settled), aborted])
}

/**
 * Rejects if the store may have confirmed changes in the meantime, because another move began (and may have
 * failed) or an operator accepted the store.
 */
async function expectMoved(from: Store, identity: string): Promise<void> {
  const mark = await at(from, from.mark())
  if (mark?.identity !== identity)
    throw new Error(`${from.location} was moved by another command meanwhile, or accepted`)
}

/**
 * Rejects if the store was moved to another one than `to`: the other one goes on with its records, and a
 * second one must not do so as well.
 */
async function expectUnmoved(from: Store, to: Store, { identity }: Seen): Promise<void> {
  const note = await at(from, from.notes.get(noteOwner, 'moved'))
  const [by, ...location] = note?.record.value.split(' ') ?? []
  if (by !== identity || location.join(' ') === to.location) return
  throw new Error(
    `nothing was moved: ${from.location} was moved to ${location.join(' ')} before. To go on with it instead, run gatehouse store accept on each machine that uses it`,
  )
}

async function noteMove(notes: Store['notes'], value: string, now: number): Promise<void> {
  const before = await notes.get(noteOwner, 'moved')
  const note: StoreNote = { account: noteOwner, id: 'moved', value, createdAt: now }
  const isNoted = before === null ? notes.insert(note) : notes.replace(note, before.version)
  if (!(await isNoted)) throw new Error('another move of the store ended at the same time')
}

/** Lets the store confirm changes again, unless another move of it has begun. */
async function reopen(
  from: Store,
  mark: Seen,
  { identity, cause }: { readonly identity: string; readonly cause: Error },
): Promise<void> {
  try {
    await from.continueAs(mark, identity)
  } catch {
    throw new Error(
      `${cause.message}. ${from.location} confirms no changes until it is moved, or accepted again with gatehouse store accept`,
      { cause },
    )
  }
}

interface Transfer {
  readonly from: Store
  readonly to: Store
  readonly counts: Counts
}

interface Copy {
  readonly from: Store
  readonly to: Store
  readonly accounts: readonly Account[]
  /** The mark of the source. */
  readonly mark: Seen
  readonly now: number
  /** Rejects if the copy is not complete. */
  readonly settle?: () => Promise<void>
}

async function copyAll({ from, to, accounts, mark, now, settle }: Copy): Promise<CopyReport> {
  const counts = Object.fromEntries(Object.keys(copied).map(kind => [kind, 0])) as Counts
  try {
    await at(to, begin(from, to, now))
    const all: Transfer = { from, to, counts }
    await copyRecords(all, store => store.tokenKeys, tokenKeyOwner, 'key of tokens')
    // Without them, all clients would need a full handshake at the same time.
    await copyRecords(all, store => store.ticketKeys, ticketOwner, 'key of TLS sessions')
    await copyKeyNote(all)
    for (const account of accounts) await copyAccount(all, account)
    await copyZones(all)
    await copyPeople(all)
    await copyAcme(all)
    await settle?.()
    // Machines that have seen the source continue with the target, unless it lacks changes that they have
    // seen.
    await at(to, to.continueAs({ ...mark, identity: originalIdentity(mark.identity) }))
    await at(to, to.notes.remove(noteOwner, 'copy'))
    return counts
  } catch (cause) {
    throw new Error(
      `the copy to ${to.location} is incomplete: ${(cause as Error).message}. Copied so far: ${inWords(counts)}. Run the same command again`,
      { cause },
    )
  }
}

/** Formats the counts for people, leaving out those that are 0. */
export function inWords(report: CopyReport): string {
  const kinds = Object.entries(copied)
    .map(([kind, words]) => [report[kind as Kind], words] as const)
    .filter(([number]) => number > 0)
    .map(([number, [one, many]]) => `${number} ${number === 1 ? one : many}`)
  return kinds.length < 2 ? (kinds[0] ?? 'nothing') : `${kinds.slice(0, -1).join(', ')} and ${kinds.at(-1)}`
}

async function accountsToCopy(from: Store, to: Store): Promise<readonly Account[]> {
  try {
    const accounts = await at(from, from.accounts.list())
    if (accounts.length === 0) throw new Error(`${from.location} has no account`)
    const copy = await at(to, to.notes.get(noteOwner, 'copy'))
    if (copy !== null && copy.record.value !== from.location)
      throw new Error(
        `${to.location} holds an unfinished copy of ${copy.record.value}: copy that one again, or use an empty store`,
      )
    if (copy === null && (await at(to, to.accounts.list())).length > 0)
      throw new Error(`${to.location} already has an account: the target must be an empty store`)
    return accounts
  } catch (cause) {
    throw new Error(`nothing was copied: ${(cause as Error).message}`, { cause })
  }
}

/** Notes in the target that it is incomplete, and removes the remains of an earlier copy. */
async function begin({ location: value }: Store, to: Store, now: number): Promise<void> {
  if (await to.notes.insert({ account: noteOwner, id: 'copy', value, createdAt: now })) return
  for (const { id } of await to.accounts.list()) {
    for await (const clients of to.oauthClients.walk(id))
      for (const client of clients) await to.authorizationEvents.removeOf(client.id)
    for (const records of [to.tokens, to.oauthClients, to.oauthGrants, to.gateways, to.customProviders])
      await clear(records, id)
  }
  for await (const users of to.users.walk(everybody))
    for (const { id: user } of users) await to.credentials.removeOf({ user })
  for (const records of [to.users, to.oauthClients, to.oauthGrants]) await clear(records, everybody)
  await clear(to.tokenKeys, tokenKeyOwner)
  await clear(to.ticketKeys, ticketOwner)
  for (const owner of keyOwners) await clear(to.signingKeys, owner)
  for (const records of [to.errorRules, to.accessRules, to.errorPages]) await clear(records, zoneOwner)
  for (const records of [to.acmeAccounts, to.certificates]) await clear(records, acmeOwner)
}

async function clear(
  records: Pick<Records<{ readonly id: string }>, 'walk' | 'remove'>,
  owner: string,
): Promise<void> {
  for await (const page of records.walk(owner)) for (const { id } of page) await records.remove(owner, id)
}

/** Otherwise a machine with another key would take the copy for its own. */
async function copyKeyNote({ from, to }: Transfer): Promise<void> {
  const note = await at(from, keyNoteOf(from.notes))
  if (note === null) return
  const { value, createdAt } = note.record
  const before = await at(to, keyNoteOf(to.notes))
  if (!(await at(to, writeKeyNote(to.notes, before, value, createdAt))))
    throw new Error(`${to.location} is in use by a gateway`)
}

async function copyAccount(all: Transfer, account: Account): Promise<void> {
  const { from, to, counts } = all
  // Accounts cannot be removed, so that those of an earlier copy remain.
  if (!(await at(to, to.accounts.insert(account)))) await at(to, to.accounts.update(account.id, account))
  counts.accounts++
  await copyTokens(all, account)
  for await (const client of each(from, from.oauthClients.walk(account.id))) {
    expectNew(await at(to, to.oauthClients.insert(client)), 'OAuth client', client.id)
    counts.oauthClients++
    await copyEvents(all, client)
  }
  await copyMembers(all, account.id)
  for await (const grants of eachAt(from, from.oauthGrants.walk(account.id)))
    await together(grants, async grant => {
      expectNew(await at(to, to.oauthGrants.insert(grant)), 'OAuth grant', grant.id)
      counts.oauthGrants++
    })
  for await (const gateway of each(from, from.gateways.walk(account.id))) {
    expectNew(await at(to, to.gateways.insert(gateway)), 'gateway', gateway.id)
    counts.gateways++
    await copyRecords(all, store => store.modelRoutes, routeOwner(gateway), 'dynamic route', 'modelRoutes')
    await copyRecords(all, store => store.policySets, routeOwner(gateway), 'set of policies', 'policySets')
    const alerts = 'set of budget alerts'
    await copyRecords(all, store => store.budgetAlertSets, routeOwner(gateway), alerts, 'budgetAlertSets')
    await copyLogs(all, gateway)
  }
  await copyRecords(all, store => store.customProviders, account.id, 'custom provider', 'customProviders')
  await copyBudgets(all, account)
  await copyClaims(all, account)
  await copyAudit(all, account)
}

/**
 * Adds members before changing and removing those of an earlier copy, so that an account is never without a
 * super administrator.
 */
async function copyMembers({ from, to, counts }: Transfer, account: string): Promise<void> {
  const members = new Map<string, Member>()
  for await (const member of each(from, from.members.walk(account))) members.set(member.id, member)
  const before: Member[] = []
  for await (const member of each(to, to.members.walk(account))) before.push(member)
  // Another membership of the same user would conflict.
  for (const { id } of before)
    if (!members.has(id))
      await at(to, to.members.remove(account, id)).catch(cause => {
        if (!(cause.cause instanceof LastSuperAdministrator)) throw cause
      })
  const changed: Member[] = []
  for (const member of members.values()) if (!(await at(to, to.members.insert(member)))) changed.push(member)
  for (const member of changed) {
    const current = await at(to, to.members.get(account, member.id))
    const isSame = current !== null && JSON.stringify(current.record) === JSON.stringify(member)
    if (!isSame)
      expectNew(
        current !== null && (await at(to, to.members.replace(member, current.version))),
        'member',
        member.id,
      )
  }
  for (const { id } of before) if (!members.has(id)) await at(to, to.members.remove(account, id))
  counts.members += members.size
}

async function copyTokens({ from, to, counts }: Transfer, { id: account }: Account): Promise<void> {
  for await (const tokens of eachAt(from, from.tokens.walk(account))) {
    await together(tokens, async token => {
      expectNew(await at(to, to.tokens.insert(token)), 'token', token.id)
      counts.tokens++
    })
    const ids = tokens.map(({ id }) => id)
    const uses = await at(from, from.tokens.lastUses(account, ids))
    await at(to, to.tokens.noteUses([...uses].map(([id, at]) => ({ account, id, at }))))
  }
}

async function copyLogs({ from, to, counts }: Transfer, { account, id }: Gateway): Promise<void> {
  // Copies all entries of the source, even if the limit has been lowered since.
  const limit = { maxEntries: Number.MAX_SAFE_INTEGER, strategy: 'STOP_INSERTING' } as const
  for await (const entries of eachAt(from, from.logs.entries(account, id))) {
    const count = await at(to, to.logs.append(account, id, batchOf(entries), limit))
    counts.logEntries += count
    if (count < entries.length) throw new Error(`the gateway ${id} was deleted during the copy`)
  }
}

/** Copies what was spent, and leases: processes of the source may still spend them. */
async function copyBudgets({ from, to, counts }: Transfer, { id }: Account): Promise<void> {
  for await (const entries of eachAt(from, from.budgets.entries(id))) {
    await at(to, to.budgets.restore(id, entries))
    counts.budgets += entries.length
  }
}

/** Copies which AI calls were made, though not their answers: none may be made twice. */
async function copyClaims({ from, to, counts }: Transfer, { id }: Account): Promise<void> {
  for await (const entries of eachAt(from, from.claims.entries(id))) {
    await at(to, to.claims.restore(id, entries))
    counts.claims += entries.length
  }
}

async function copyAudit({ from, to, counts }: Transfer, { id }: Account): Promise<void> {
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

async function copyZones(all: Transfer): Promise<void> {
  await copyRecords(all, store => store.errorRules, zoneOwner, 'list of error rules', 'ruleLists')
  await copyRecords(all, store => store.accessRules, zoneOwner, 'list of access rules', 'ruleLists')
  await copyRecords(all, store => store.errorPages, zoneOwner, 'error page', 'errorPages')
}

/** Copies an owner's records of one kind, and counts them if they are reported. */
async function copyRecords<T extends { readonly id: string }>(
  { from, to, counts }: Transfer,
  recordsOf: (store: Store) => Records<T>,
  owner: string,
  name: string,
  kind?: Kind,
): Promise<void> {
  for await (const record of each(from, recordsOf(from).walk(owner))) {
    expectNew(await at(to, recordsOf(to).insert(record)), name, record.id)
    if (kind !== undefined) counts[kind]++
  }
}

async function copyEvents({ from, to, counts }: Transfer, client: OAuthClient): Promise<void> {
  const events = await at(from, from.authorizationEvents.list(client.account, client.id))
  for (const event of events.toReversed()) {
    await at(to, to.authorizationEvents.append(event))
    counts.authorizationEvents++
  }
}

async function copyPeople(all: Transfer): Promise<void> {
  const { from, to, counts } = all
  for await (const users of eachAt(from, from.users.walk(everybody)))
    await together(users, async user => {
      expectNew(await at(to, to.users.insert(user)), 'user', user.id)
      counts.users++
      await copyCredentials(all, user)
    })
  // Clients that are known by a document, and what apps may do in no account.
  await copyRecords(all, store => store.oauthClients, everybody, 'OAuth client', 'oauthClients')
  await copyRecords(all, store => store.oauthGrants, everybody, 'OAuth grant', 'oauthGrants')
  for (const owner of keyOwners)
    await copyRecords(all, store => store.signingKeys, owner, 'signing key', 'signingKeys')
}

/** Copies the issued certificates but no orders, which the gateways of the source may still continue. */
async function copyAcme(all: Transfer): Promise<void> {
  const { from, to, counts } = all
  await copyRecords(all, store => store.acmeAccounts, acmeOwner, 'ACME account', 'acmeAccounts')
  for await (const certificate of each(from, from.certificates.walk(acmeOwner))) {
    const settled = { ...certificate, order: null, lease: null }
    expectNew(await at(to, to.certificates.insert(settled)), 'certificate', certificate.id)
    counts.certificates++
  }
}

async function copyCredentials({ from, to, counts }: Transfer, { id }: User): Promise<void> {
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

/**
 * Runs `work` for all items of a page at once, since each waits for the disk. Rejects with the first failure,
 * once all have settled.
 */
async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const done = await Promise.allSettled(items.map(work))
  for (const one of done) if (one.status === 'rejected') throw one.reason
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
