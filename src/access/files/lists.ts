// The address lists of the configuration, shared by all rules that name them.

import { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import type { Found } from '../../net/address/address-table.ts'
import type { AddressWords } from '../../net/address/address-words.ts'
import type { Logger } from '../../log/log.ts'
import type { ListConfig } from '../../config/model/access-config.ts'
import { type ListFile, readListFile } from './list-file.ts'
import { type WatchedFile, WatchedFiles } from './watched-files.ts'

/** A list that may change between two lookups, since its file is reloaded when it changes. */
export interface AddressList {
  find(address: AddressWords): Found
}

export interface Lists {
  /** Finds a list of the configuration; throws for an unknown name. */
  get(name: string): AddressList
}

interface AddressListsOptions {
  readonly log: Logger
  readonly metrics?: Pick<AccessMetrics, 'listReloads'>
}

/** Lists in files; a changed file is applied within a second, and an invalid one leaves the previous version in place. */
export class AddressLists implements Lists {
  readonly #files: WatchedFiles<ListFile>
  #paths: ReadonlyMap<string, string> = new Map()

  constructor({ log, metrics = new AccessMetrics() }: AddressListsOptions) {
    const reloads = metrics.listReloads
    this.#files = new WatchedFiles({ noun: 'address list', read: readListFile, doubt: doubtOf, log, reloads })
  }

  /**
   * Loads lists that are not loaded yet; the previous ones stay until `keep`. When a list is invalid, rejects with a sentence that names file, line and rule, and
   * changes nothing.
   */
  async prepare(lists: readonly ListConfig[]): Promise<void> {
    await this.#files.open(lists.map(({ path }) => path))
    this.#paths = new Map(lists.map(({ name, path }) => [name, path]))
  }

  get(name: string): AddressList {
    const path = this.#paths.get(name)
    if (path === undefined) throw new Error(`list ${name} is not loaded`)
    return new ListInFile(this.#files.get(path))
  }

  /** Forgets everything that was not in the last `prepare`; to be called once no rule uses it. */
  keep(): void {
    this.#files.keep(this.#paths.values())
  }

  /** Stops watching. */
  close(): void {
    this.#files.keep([])
  }
}

class ListInFile implements AddressList {
  readonly #file: WatchedFile<ListFile>

  constructor(file: WatchedFile<ListFile>) {
    this.#file = file
  }

  find(address: AddressWords): Found {
    return this.#file.content.table.find(address)
  }
}

/** Returns a warning where a file seems to have been read while it was being written. */
function doubtOf(before: ListFile, now: ListFile): string | null {
  if (now.table.size === 0 && before.table.size > 0) return 'the file is empty now'
  return before.isEnded && !now.isEnded ? 'the last line no longer ends with a newline' : null
}
