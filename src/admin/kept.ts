// What the handlers of all kept records share: a page of them, and changes that are told of, between which no other write may come.

import type { Logger } from '../base/log.ts'
import type { AuditEntry } from '../store/records.ts'
import { type Records, StoreAway, StoreBusy, type Together } from '../store/store.ts'
import { tellAudit } from './audit.ts'
import type { Answer, Window } from './envelope.ts'
import type { PageQuery } from './query.ts'

/** A new record and what is told of it, or why there is none. */
export type Revised<T> = { readonly record: T; readonly audit: AuditEntry } | Answer

/** What every write of the API writes with the record. */
type Told = Together & { readonly audit: AuditEntry }

/** How many records are read at a time where all must be looked at. */
const batch = 500

/** Cuts a page of an account's records, in the order of their creation. */
export async function pageOf<T>(records: Records<T>, account: string, { page, perPage }: PageQuery) {
  const { items, total } = await records.list(account, { offset: (page - 1) * perPage, limit: perPage })
  return { items, window: { page, perPage, total } satisfies Window }
}

/** Cuts a page of what is left of an account's records when they have been filtered or turned round. */
export async function pageOfSome<T>(
  records: Records<T>,
  account: string,
  { page, perPage }: PageQuery,
  choose: (all: readonly T[]) => readonly T[],
) {
  const some = choose(await everyOne(records, account))
  const items = some.slice((page - 1) * perPage, page * perPage)
  return { items, window: { page, perPage, total: some.length } satisfies Window }
}

/** Adds a record and tells of it; false, and nothing was done, when its id is taken, or the key of the answer. */
export async function add<T>(records: Records<T>, record: T, told: Told, log: Logger): Promise<boolean> {
  return tellAfter(records.insert(record, told), told, log)
}

/** Puts a record in place of a version and tells of it; false, and nothing was done, when that is not kept any more, or the key of the answer is taken. */
export async function put<T>(
  records: Records<T>,
  record: T,
  version: number,
  told: Told,
  log: Logger,
): Promise<boolean> {
  return tellAfter(records.replace(record, version, told), told, log)
}

/** Removes the record that an entry is about and tells of it; false, and nothing was done, when there was none, or another version than the one that is given. What no account owns is told to the one of the entry. */
export async function drop<T>(
  records: Records<T>,
  audit: AuditEntry,
  log: Logger,
  version?: number,
  owner = audit.account,
): Promise<boolean> {
  return tellAfter(records.remove(owner, audit.resource, { audit }, version), { audit }, log)
}

/**
 * Puts a new record in place of the one that is kept: `change` is asked again whenever another write came between, so that the last one wins whole. Gives the
 * new record, or the answer that `change` gave instead of one; null when there is none to change.
 */
export async function revise<T>(
  records: Records<T>,
  account: string,
  id: string,
  change: (kept: T) => Revised<T>,
  log: Logger,
): Promise<Revised<T> | null> {
  for (;;) {
    const kept = await records.get(account, id)
    if (kept === null) return null
    const revised = change(kept.record)
    if (!('record' in revised)) return revised
    const { record, audit } = revised
    if (await put(records, record, kept.version, { audit }, log)) return revised
  }
}

/** Puts a new record in place of the one that is kept, or where there is none: `make` is asked again whenever another write came between. */
export async function upsert<T>(
  records: Records<T>,
  { account, id }: { readonly account: string; readonly id: string },
  make: (kept: T | null) => Revised<T>,
  log: Logger,
): Promise<Revised<T>> {
  for (;;) {
    const kept = await records.get(account, id)
    const revised = make(kept?.record ?? null)
    if (!('record' in revised)) return revised
    const { record, audit } = revised
    const isWritten = kept
      ? await put(records, record, kept.version, { audit }, log)
      : await add(records, record, { audit }, log)
    if (isWritten) return revised
  }
}

/** Writes a moment as the API shows it. */
export function isoTime(ms: number): string {
  const time = new Date(ms).toISOString()
  return time.endsWith('.000Z') ? `${time.slice(0, -5)}Z` : time
}

/** A write that was not confirmed may have been made, and its entry with it: the log tells of it as doubtful. */
async function tellAfter(write: Promise<boolean>, { audit }: Told, log: Logger): Promise<boolean> {
  const isWritten = await write.catch(failure => {
    if (failure instanceof StoreAway && !(failure instanceof StoreBusy))
      tellAudit(log, audit, 'audit, in doubt')
    throw failure
  })
  if (isWritten) tellAudit(log, audit)
  return isWritten
}

async function everyOne<T>(records: Records<T>, account: string): Promise<readonly T[]> {
  const all: T[] = []
  for (;;) {
    const { items } = await records.list(account, { offset: all.length, limit: batch })
    all.push(...items)
    if (items.length < batch) return all
  }
}
