// The common parts of all record handlers: a page of records, and atomic, audited changes.

import type { Logger } from '../../log/log.ts'
import type { AuditEntry } from '../../store/records/records.ts'
import {
  type Page,
  type Position,
  type Records,
  type Store,
  StoreUnreachable,
  type Together,
} from '../../store/contract/store.ts'
import { tellAudit } from './audit.ts'
import { type ApiResponse, listInTurns } from '../http/envelope.ts'
import { cursorOf, type PageQuery } from '../http/query.ts'

export type Revised<T> = { readonly record: T; readonly audit: AuditEntry } | ApiResponse

type SideWrites = Together & { readonly audit: AuditEntry }

interface Listed<T> {
  readonly createdAt: (record: T) => number
  readonly view: (record: T) => unknown
  readonly holds?: ((record: T) => boolean) | null
  readonly descending?: boolean
  readonly prepare?: (records: readonly T[]) => Promise<void>
}

/** Entries behind a cursor do not move, whatever was removed before it. */
export async function pageOf<T extends { readonly id: string }>(
  records: Records<T>,
  account: string,
  page: PageQuery,
  listed: Listed<T>,
): Promise<ApiResponse> {
  const { view, createdAt, holds = null, descending = false } = listed
  const placeOf = (record: T): Position => ({ at: createdAt(record), id: record.id })
  const isPlain = holds === null && !descending
  const { items, total } = isPlain
    ? await records.list(account, cutOf(page))
    : await sift(records, account, page, { holds, descending, placeOf })
  await listed.prepare?.(items)
  return responseOf(items, page, total, { view, placeOf })
}

/** Returns the start of a page, and its length plus one, which shows whether there is a next one. */
export function cutOf({ page, perPage, after }: PageQuery): Page {
  return { offset: after === null ? (page - 1) * perPage : 0, limit: perPage + 1, after }
}

export function responseOf<T>(
  records: readonly T[],
  { page, perPage }: PageQuery,
  total: number,
  { view, placeOf }: { readonly view: (record: T) => unknown; readonly placeOf: (record: T) => Position },
): Promise<ApiResponse> {
  const items = records.slice(0, perPage)
  const cursor = records.length > perPage ? cursorOf(placeOf(items.at(-1)!)) : null
  return listInTurns(items, view, { page, perPage, total, cursor })
}

/** Responds with a page of a complete list, without a cursor. */
export function pageOfAll<T>(
  items: readonly T[],
  { page, perPage }: PageQuery,
  view: (item: T) => unknown,
  headers?: ApiResponse['headers'],
): Promise<ApiResponse> {
  const from = (page - 1) * perPage
  return listInTurns(items.slice(from, from + perPage), view, { page, perPage, total: items.length }, headers)
}

interface Sieve<T> {
  readonly holds: ((record: T) => boolean) | null
  readonly descending: boolean
  readonly placeOf: (record: T) => Position
}

/** Reads all records of an account, and retains no more of them than the page. */
async function sift<T>(records: Records<T>, account: string, page: PageQuery, sieve: Sieve<T>) {
  const { holds, descending, placeOf } = sieve
  const { offset, limit, after = null } = cutOf(page)
  const items: T[] = []
  let [total, passed] = [0, 0]
  for await (const some of records.walk(account, { descending }))
    for (const record of some) {
      if (holds !== null && !holds(record)) continue
      total++
      if (after !== null && !isBehind(placeOf(record), after, descending)) continue
      if (passed++ >= offset && items.length < limit) items.push(record)
    }
  return { items, total }
}

function isBehind(one: Position, other: Position, descending: boolean): boolean {
  if (one.at !== other.at) return one.at > other.at !== descending
  return one.id !== other.id && one.id > other.id !== descending
}

/** False, without an effect, when its id or the key of the response is taken. */
export async function add<T>(
  records: Records<T>,
  record: T,
  sideWrites: SideWrites,
  log: Logger,
): Promise<boolean> {
  return tellAfter(records.insert(record, sideWrites), sideWrites, log)
}

/** False, without an effect, when that version is outdated, or the key of the response is taken. */
export async function put<T>(
  records: Records<T>,
  record: T,
  version: number,
  sideWrites: SideWrites,
  log: Logger,
): Promise<boolean> {
  return tellAfter(records.replace(record, version, sideWrites), sideWrites, log)
}

/** Removes the record of an audit entry; false if there is none, or its version differs. */
export async function drop<T>(
  records: Records<T>,
  audit: AuditEntry,
  log: Logger,
  version?: number,
  owner = audit.account,
): Promise<boolean> {
  return tellAfter(records.remove(owner, audit.resource, { audit }, version), { audit }, log)
}

/** Calls `change` again whenever another write came between; null when there is no record. */
export async function revise<T>(
  records: Records<T>,
  account: string,
  id: string,
  change: (current: T) => Revised<T>,
  log: Logger,
): Promise<Revised<T> | null> {
  for (;;) {
    const current = await records.get(account, id)
    if (current === null) return null
    const revised = change(current.record)
    if (!('record' in revised)) return revised
    const { record, audit } = revised
    if (await put(records, record, current.version, { audit }, log)) return revised
  }
}

/** Replaces or creates a record: `make` is called again whenever another write came between. */
export async function upsert<T>(
  records: Records<T>,
  { account, id }: { readonly account: string; readonly id: string },
  make: (current: T | null) => Revised<T>,
  log: Logger,
): Promise<Revised<T>> {
  for (;;) {
    const current = await records.get(account, id)
    const revised = make(current?.record ?? null)
    if (!('record' in revised)) return revised
    const { record, audit } = revised
    const isWritten = current
      ? await put(records, record, current.version, { audit }, log)
      : await add(records, record, { audit }, log)
    if (isWritten) return revised
  }
}

/** Formats a time for the API: always with ms, so that all times have one length. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString()
}

/** The store has the hour of a use, which may be before the creation; times are in ms. */
export function isoTimeOfUse(usedAt: number, madeAt: number): string {
  return isoTime(Math.max(usedAt, madeAt))
}

/** Writes an audit entry before changes, since without it they could not be reported any more. */
export async function tellBefore<T>(
  audit: AuditEntry,
  { store, log }: { readonly store: Pick<Store, 'audit'>; readonly log: Logger },
  change: () => Promise<T>,
): Promise<T> {
  let isWritten = false
  try {
    await store.audit.append(audit)
    isWritten = true
    const result = await change()
    tellAudit(log, audit)
    return result
  } catch (failure) {
    if (failure instanceof StoreUnreachable && (isWritten || !failure.isUndone))
      tellAudit(log, audit, 'audit: write not confirmed')
    throw failure
  }
}

/** An unconfirmed write may have happened, and its entry with it: the log marks it as doubtful. */
export async function tellAfter(
  write: Promise<boolean>,
  { audit }: SideWrites,
  log: Logger,
): Promise<boolean> {
  const isWritten = await write.catch(failure => {
    if (failure instanceof StoreUnreachable && !failure.isUndone)
      tellAudit(log, audit, 'audit: write not confirmed')
    throw failure
  })
  if (isWritten) tellAudit(log, audit)
  return isWritten
}
