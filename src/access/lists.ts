// The address lists of the configuration, shared by all rules that name them. Access rules ask; the process loads them.

import { AccessMetrics } from '../metrics/access-metrics.ts'
import type { Found } from '../base/address/address-table.ts'
import type { AddressWords } from '../base/address/address-words.ts'
import type { Logger } from '../log/log.ts'
import type { ListConfig } from '../config/access-config.ts'
import { type ListFile, readListFile } from './list-file.ts'
import { type WatchedFile, WatchedFiles } from './watched-files.ts'

/** A list that may differ at each look, since its file is reloaded when it changes. */
export interface AddressList {
  find(address: AddressWords): Found
}

export interface Lists {
  /** Finds a list of the configuration; throws for a name that it does not know. */
  get(name: string): AddressList
}

interface AddressListsOptions {
  readonly log: Logger
  readonly metrics?: Pick<AccessMetrics, 'listReloads'>
}

/** Lists in files, of which a changed one is in effect within a second; a new version that is not good leaves the one before. */
export class AddressLists implements Lists {
  readonly #files: WatchedFiles<ListFile>
  #paths: ReadonlyMap<string, string> = new Map()

  constructor({ log, metrics = new AccessMetrics() }: AddressListsOptions) {
    const reloads = metrics.listReloads
    this.#files = new WatchedFiles({ noun: 'address list', read: readListFile, doubt: doubtOf, log, reloads })
  }

  /**
   * Loads what these need more than the ones before, which stay until `keep`; rejects with a sentence that names file, line and rule, and changes
   * nothing, when one of them is not good.
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

  /** Forgets all that was not prepared last: to be called once nobody asks for it any more. */
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

/** Returns what looks as if a file was read while it was written. */
function doubtOf(before: ListFile, now: ListFile): string | null {
  if (now.table.size === 0 && before.table.size > 0) return 'the file is empty now'
  return before.isEnded && !now.isEnded ? 'the last line no longer ends with a newline' : null
}
