// Reads the records of zones from the store.

import { zoneOwner } from '../store/records/zone-lists.ts'
import type { Records, Store } from '../store/contract/store.ts'
import type { ZoneRecordKind, ZoneRecordKinds, ZoneRecordLists } from './known-zones.ts'

export interface ZoneRecordName {
  readonly kind: ZoneRecordKind
  readonly id: string
}

/** The current state of a record; null if it was removed. */
export interface ReadRecord extends ZoneRecordName {
  readonly record: ZoneRecordKinds[ZoneRecordKind] | null
}

/** Lists and pages read at a time, one already known: pages are large, and timeouts are short. */
const maxLists = 20
const maxPages = 2

type RecordsByKind = { readonly [K in ZoneRecordKind]: Records<ZoneRecordKinds[K]> }

/** Reads all records, each as it was at some time during the call. */
export async function readAll(store: Store): Promise<ZoneRecordLists> {
  const { error_rule_list, access_rule_list, error_page } = recordsOf(store)
  return {
    error_rule_list: await every(error_rule_list, maxLists),
    access_rule_list: await every(access_rule_list, maxLists),
    error_page: await every(error_page, maxPages),
  }
}

/** Reads some records, each once, even if named several times. */
export async function readThese(store: Store, names: readonly ZoneRecordName[]): Promise<ReadRecord[]> {
  const records = recordsOf(store)
  const distinct = new Map(names.map(name => [`${name.kind} ${name.id}`, name]))
  const read: ReadRecord[] = []
  for (const { kind, id } of distinct.values()) {
    const record = await records[kind].get(zoneOwner, id)
    read.push({ kind, id, record: record?.record ?? null })
  }
  return read
}

function recordsOf({ errorRules, accessRules, errorPages }: Store): RecordsByKind {
  return { error_rule_list: errorRules, access_rule_list: accessRules, error_page: errorPages }
}

async function every<T extends { readonly id: string }>(records: Records<T>, limit: number): Promise<T[]> {
  let read: T[] = []
  for (;;) {
    // Continues from the last known one. If another record is there now, an earlier one was removed, and the
    // following ones moved up.
    const last = read.at(-1)
    const { items } = await records.list(zoneOwner, { offset: last ? read.length - 1 : 0, limit })
    const more = last ? items.slice(1) : items
    if (last && items[0]?.id !== last.id) read = []
    else if (items.length < limit) return [...read, ...more]
    else read.push(...more)
  }
}
