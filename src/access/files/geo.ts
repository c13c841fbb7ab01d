// Country and network of an address, from MaxMind DB files.

import { readFile } from 'node:fs/promises'
import { Reader, type Response } from 'maxmind'
import { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import type { Logger } from '../../log/log.ts'
import { type WatchedFile, WatchedFiles } from './watched-files.ts'

export interface Geo {
  /** ISO 3166-1 alpha-2; empty if unknown, null if a database cannot be read. */
  countryOf(address: string): string | null
  /** 0 if unknown, null if a database cannot be read. */
  networkOf(address: string): number | null
}

interface GeoDatabasesOptions {
  readonly log: Logger
  readonly metrics?: Pick<AccessMetrics, 'geoReloads'>
}

/** Cached addresses, in each of two generations. */
const cacheSize = 4096

/** Databases in files; a changed file takes effect within a second. */
export class GeoDatabases {
  readonly #files: WatchedFiles<Reader<GeoRecord>>
  #changes = 0

  constructor({ log, metrics = new AccessMetrics() }: GeoDatabasesOptions) {
    this.#files = new WatchedFiles({
      noun: 'geographic database',
      read: readDatabase,
      changed: () => this.#changes++,
      log,
      reloads: metrics.geoReloads,
    })
  }

  /** The first database that knows an address decides. Rejects with a sentence that names an invalid file. */
  async open(paths: readonly string[]): Promise<Geo> {
    await this.#files.open(paths)
    return new OpenDatabases(
      paths.map(path => this.#files.get(path)),
      () => this.#changes,
    )
  }

  keep(paths: readonly string[]): void {
    this.#files.keep(paths)
  }

  close(): void {
    this.#files.keep([])
  }
}

class OpenDatabases implements Geo {
  readonly #databases: readonly WatchedFile<Reader<GeoRecord>>[]
  readonly #changes: () => number
  #cachedSince = 0
  #recent = new Map<string, Place>()
  #older = new Map<string, Place>()

  constructor(databases: readonly WatchedFile<Reader<GeoRecord>>[], changes: () => number) {
    this.#databases = databases
    this.#changes = changes
  }

  countryOf(address: string): string | null {
    return this.#placeOf(address).country
  }

  networkOf(address: string): number | null {
    return this.#placeOf(address).network
  }

  #placeOf(address: string): Place {
    const changes = this.#changes()
    if (changes !== this.#cachedSince) this.#forget(changes)
    const recent = this.#recent.get(address)
    if (recent !== undefined) return recent
    const place = this.#older.get(address) ?? this.#find(address)
    if (this.#recent.size >= cacheSize) {
      this.#older = this.#recent
      this.#recent = new Map()
    }
    this.#recent.set(address, place)
    return place
  }

  #find(address: string): Place {
    let { country, network } = nowhere
    try {
      for (const { content } of this.#databases) {
        const record = recordOf(content, address)
        country ||= record?.country?.iso_code ?? record?.registered_country?.iso_code ?? ''
        network ||= record?.autonomous_system_number ?? 0
      }
      // Records come from a file and may contain anything.
      return typeof country === 'string' && typeof network === 'number' ? { country, network } : unreadable
    } catch {
      return unreadable
    }
  }

  #forget(changes: number): void {
    this.#cachedSince = changes
    this.#recent.clear()
    this.#older.clear()
  }
}

type GeoRecord = Response & {
  readonly country?: { readonly iso_code?: string }
  readonly registered_country?: { readonly iso_code?: string }
  readonly autonomous_system_number?: number
}

interface Place {
  readonly country: string | null
  readonly network: number | null
}

const nowhere = { country: '', network: 0 }
const unreadable: Place = { country: null, network: null }

async function readDatabase(path: string): Promise<Reader<GeoRecord>> {
  const bytes = await readFile(path).catch(error => {
    throw new Error(`${path}: cannot be read: ${error.code}`)
  })
  try {
    const reader = new Reader<GeoRecord>(bytes)
    const { ipVersion, searchTreeSize } = reader.metadata
    if ((ipVersion === 4 || ipVersion === 6) && searchTreeSize < bytes.length) return reader
  } catch {
    // The package's own messages are not written for operators.
  }
  throw new Error(`${path}: must be a MaxMind DB file`)
}

function recordOf(reader: Reader<GeoRecord>, address: string): GeoRecord | null {
  if (address === '' || (reader.metadata.ipVersion === 4 && address.includes(':'))) return null
  return reader.get(address)
}
