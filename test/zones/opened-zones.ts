// Opens what is known of zones, for tests: over a real store, or one in memory whose reads and notices come when the test says so.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createLogger } from '../../src/log/log.ts'
import { openStore } from '../../src/store/open.ts'
import { zoneOwner } from '../../src/store/records/zone-lists.ts'
import { type Change, type Records, type Store, StoreUnreachable } from '../../src/store/contract/store.ts'
import { ZoneRecords, type ZoneRecordsOptions } from '../../src/zones/zone-records.ts'

export interface OpenedZones {
  readonly zones: ZoneRecords
  /** What was logged. */
  readonly lines: readonly Readonly<Record<string, unknown>>[]
  /** How often it was told that something has changed, since it was opened. */
  readonly told: () => number
}

/** Opens them over a store; they are closed when the test ends. */
export async function openZones(
  t: TestContext,
  store: Store,
  options: Partial<ZoneRecordsOptions> = {},
): Promise<OpenedZones> {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const zones = new ZoneRecords({ store, log, cachePath: null, ...options })
  t.after(() => zones.close())
  await zones.open()
  let told = 0
  zones.follow(() => told++)
  return { zones, lines, told: () => told }
}

/** A path in a folder that is not there yet, in one that ends with the test. */
export function cachePath(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'zones-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data', 'zones.copy')
}

/** Opens a store of a URL that is closed when the test ends. */
export async function opened(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 1_000 })
  t.after(() => store.close())
  return store
}

/** Writes a record, in place of what has its id. */
export async function put<T extends { readonly id: string }>(records: Records<T>, record: T): Promise<void> {
  const before = await records.get(zoneOwner, record.id)
  if (before ? await records.replace(record, before.version) : await records.insert(record)) return
  throw new Error(`${record.id} was not written`)
}

/** A store in memory behind which a test stands. */
export class SteeredStore {
  /** To be written to: it tells nobody. */
  readonly inner: Store
  isUnreachable = false
  /** The ids that were asked for; `list` for a list. */
  readonly asked: string[] = []
  readonly #listeners = new Set<(change: Change) => void>()
  #held: Promise<void> | null = null

  static async open(t: TestContext): Promise<SteeredStore> {
    return new SteeredStore(await opened(t, 'sqlite::memory:'))
  }

  private constructor(inner: Store) {
    this.inner = inner
  }

  get store(): Store {
    const { location, errorRules, accessRules, errorPages } = this.inner
    return {
      location,
      errorRules: this.#steered(errorRules),
      accessRules: this.#steered(accessRules),
      errorPages: this.#steered(errorPages),
      changes: { follow: (listener: (change: Change) => void) => this.#follow(listener) },
    } as unknown as Store
  }

  tell(change: Change): void {
    for (const listener of this.#listeners) listener(change)
  }

  /** Makes reads wait, with what they found in hand, until the function returned is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held = promise
    return () => {
      this.#held = null
      resolve()
    }
  }

  #follow(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #steered<T>(records: Records<T>): Pick<Records<T>, 'get' | 'list'> {
    return {
      get: (account, id) => this.#read(id, () => records.get(account, id)),
      list: (account, page) => this.#read('list', () => records.list(account, page)),
    }
  }

  async #read<T>(what: string, find: () => Promise<T>): Promise<T> {
    this.asked.push(what)
    if (this.isUnreachable) throw new StoreUnreachable()
    const found = await find()
    await this.#held
    return found
  }
}
