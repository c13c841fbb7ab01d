// The address lists of the configuration, shared by all rules that name them.

import { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import type { Found } from '../../net/address/address-table.ts'
import type { AddressWords } from '../../net/address/address-words.ts'
import type { Logger } from '../../log/log.ts'
import type { ListConfig } from '../../config/model/access-config.ts'
import { type ListFile, readListFile } from './list-file.ts'
import { type WatchedFile, WatchedFiles } from './watched-files.ts'

/** Results may change, since the file is reloaded when it changes. */
export interface AddressList {
  find(address: AddressWords): Found
}

export interface Lists {
  get(name: string): AddressList
}

interface AddressListsOptions {
  readonly log: Logger
  readonly metrics?: Pick<AccessMetrics, 'listReloads'>
}

/** Lists in files. A valid change takes effect within a second; an invalid one has none. */
export class AddressLists {
  readonly #files: WatchedFiles<ListFile>

  constructor({ log, metrics = new AccessMetrics() }: AddressListsOptions) {
    const reloads = metrics.listReloads
    this.#files = new WatchedFiles({ noun: 'address list', read: readListFile, doubt: doubtOf, log, reloads })
  }

  /** Reads new files; rejects with a sentence that names file, line and rule. */
  async open(lists: readonly ListConfig[]): Promise<Lists> {
    await this.#files.open(lists.map(({ path }) => path))
    const byName = new Map(lists.map(({ name, path }) => [name, listIn(this.#files.get(path))]))
    return {
      get: name => {
        const list = byName.get(name)
        if (list === undefined) throw new Error(`list ${name} is not loaded`)
        return list
      },
    }
  }

  keep(lists: readonly ListConfig[]): void {
    this.#files.keep(lists.map(({ path }) => path))
  }

  close(): void {
    this.#files.keep([])
  }
}

function listIn(file: WatchedFile<ListFile>): AddressList {
  return { find: address => file.content.table.find(address) }
}

/** Returns a warning if a file seems to have been read while it was being written. */
function doubtOf(before: ListFile, now: ListFile): string | null {
  if (now.table.size === 0 && before.table.size > 0) return 'the file is empty now'
  return before.isEnded && !now.isEnded ? 'the last line no longer ends with a newline' : null
}
