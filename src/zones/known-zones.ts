// The API settings of zones, by zone, as last read.

import { isDeepStrictEqual } from 'node:util'
import { type ErrorPages, errorPageTypes } from '../config/model/custom-errors-config.ts'
import type {
  AccessRuleList,
  ErrorPage,
  ErrorRuleList,
  KeptAccessRule,
  KeptErrorRule,
} from '../store/records/zone-lists.ts'

/** The settings of a zone; the same object until they change. */
export interface KnownZone {
  readonly errorRules: readonly KeptErrorRule[]
  readonly accessRules: readonly KeptAccessRule[]
  readonly errorPages: ErrorPages
}

/** The records of zones by kind, as named in changes. */
export interface ZoneRecordKinds {
  readonly error_rule_list: ErrorRuleList
  readonly access_rule_list: AccessRuleList
  readonly error_page: ErrorPage
}
export type ZoneRecordKind = keyof ZoneRecordKinds
export const zoneRecordKinds = ['error_rule_list', 'access_rule_list', 'error_page'] as const

export type ZoneRecordLists = { readonly [K in ZoneRecordKind]: readonly ZoneRecordKinds[K][] }

type RecordsById = { readonly [K in ZoneRecordKind]: Map<string, ZoneRecordKinds[K]> }

const nothing: KnownZone = { errorRules: [], accessRules: [], errorPages: {} }

export class KnownZones {
  readonly #records: RecordsById = {
    error_rule_list: new Map(),
    access_rule_list: new Map(),
    error_page: new Map(),
  }
  readonly #zones = new Map<string, KnownZone>()

  /** Returns the settings of a zone, empty if there are none. */
  of(name: string): KnownZone {
    const before = this.#zones.get(name)
    if (before) return before
    const zone = this.#compile(name)
    if (zone !== nothing) this.#zones.set(name, zone)
    return zone
  }

  /** Sets the current state of a record, null if it was removed; returns whether that is a change. */
  put<K extends ZoneRecordKind>(kind: K, id: string, record: ZoneRecordKinds[K] | null): boolean {
    const records = this.#records[kind]
    if (isDeepStrictEqual(records.get(id) ?? null, record)) return false
    if (record === null) records.delete(id)
    else records.set(id, record)
    this.#zones.delete(kind === 'error_page' ? id.slice(0, id.lastIndexOf('/')) : id)
    return true
  }

  /** Replaces all records; returns whether that is a change. */
  putAll(lists: ZoneRecordLists): boolean {
    return zoneRecordKinds.map(kind => this.#putKind(kind, lists[kind])).includes(true)
  }

  lists(): ZoneRecordLists {
    const { error_rule_list, access_rule_list, error_page } = this.#records
    return {
      error_rule_list: [...error_rule_list.values()],
      access_rule_list: [...access_rule_list.values()],
      error_page: [...error_page.values()],
    }
  }

  #compile(name: string): KnownZone {
    const { error_rule_list, access_rule_list, error_page } = this.#records
    const errorRules = error_rule_list.get(name)?.rules ?? nothing.errorRules
    const accessRules = access_rule_list.get(name)?.rules ?? nothing.accessRules
    const pages = errorPageTypes.flatMap(type => error_page.get(`${name}/${type}`) ?? [])
    if (errorRules.length + accessRules.length + pages.length === 0) return nothing
    const errorPages = Object.fromEntries(pages.map(({ type, html }) => [type, html]))
    return { errorRules, accessRules, errorPages }
  }

  #putKind<K extends ZoneRecordKind>(kind: K, records: ZoneRecordLists[K]): boolean {
    const ids = new Set(records.map(({ id }) => id))
    const gone = [...this.#records[kind].keys()].filter(id => !ids.has(id))
    const removals = gone.map(id => this.put(kind, id, null))
    return [...removals, ...records.map(record => this.put(kind, record.id, record))].includes(true)
  }
}
