// The stream of changes of a Redis, as far as its readers ask for it, and the notices of it, which may be lost.

import type { ChangeKind } from '../../src/store/contract/store.ts'
import { maxChanges } from '../../src/store/redis/record-scripts.ts'
import type { SqliteChanges } from '../../src/store/sqlite/changes.ts'
import type { Process, World } from './world.ts'

type Entry = readonly [id: string, fields: readonly string[]]

export class ChangeStream {
  readonly #world: World
  readonly #entries: Entry[] = []
  readonly #notified: { readonly process: Process; readonly look: () => void }[] = []
  #last = 0
  /** The part of notices that does not arrive. */
  lostNotices = 0

  constructor(world: World) {
    this.#world = world
  }

  /** Where parts of the SQLite store note their changes. */
  get asLedger(): SqliteChanges {
    const ledger = {
      nextVersion: () => this.#last + 1,
      note: (_: number, kind: ChangeKind, account: string, id: string) => this.add(kind, account, id),
      tell: async () => {},
    }
    return ledger as unknown as SqliteChanges
  }

  subscribe(process: Process, look: () => void): void {
    this.#notified.push({ process, look })
  }

  add(kind: ChangeKind, account: string, id: string, times = 1): void {
    for (let i = 0; i < times; i++)
      this.#entries.push([`${++this.#last}-0`, ['kind', kind, 'account', account, 'id', id]])
    if (this.#entries.length > maxChanges) this.#entries.splice(0, this.#entries.length - maxChanges)
    for (const { process, look } of this.#notified)
      if (process.isAlive && !process.isCutOff && !this.#world.maybe(this.lostNotices))
        this.#world.send(process, look)
  }

  /** Runs XRANGE from a position to the end, or XREVRANGE of the last entry. */
  run([name, , from]: readonly unknown[]): readonly Entry[] {
    if (name === 'XREVRANGE') return this.#entries.slice(-1)
    const first = Number.parseInt(String(from), 10)
    // Their ids are in order.
    let count = 0
    while (idOf(this.#entries.at(-count - 1)) >= first) count++
    return count === 0 ? [] : this.#entries.slice(-count)
  }
}

function idOf([id]: Entry = ['-1', []]): number {
  return Number.parseInt(id, 10)
}
