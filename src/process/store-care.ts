// Looks after the store of a running gateway: fills an empty one, tells once what its set-up can lose, and keeps in the log when it goes away and comes back.

import type { Logger } from '../base/log.ts'
import { type Store, StoreAway } from '../store/store.ts'
import { type FirstStart, fillEmptyStore } from './first-start.ts'

/** Ms between two looks at the store. */
const period = 1_000

/** Begins, and goes on as long as the process lives; a store that is away at first is filled when it is there. */
export function careForStore(store: Store, log: Logger, told: (first: FirstStart) => void): void {
  const details = { store: store.location }
  let isPrepared = false
  let wasAway = false
  const look = async () => {
    try {
      if (!isPrepared) await prepare()
      else if (store.isAway) await store.accounts.list()
      if (wasAway && !store.isAway) {
        log.info(details, 'the store is back')
        wasAway = false
      }
    } catch (cause) {
      if (!wasAway) tellOf(cause)
      wasAway = true
    }
    setTimeout(look, period).unref()
  }
  const tellOf = (cause: unknown) => {
    if (cause instanceof StoreAway) log.warn({ ...details, reason: cause.reason }, 'the store is away')
    else log.error({ ...details, err: cause }, 'the store failed')
  }
  const prepare = async () => {
    const first = await fillEmptyStore(store, Date.now())
    if (first) told(first)
    for (const doubt of await store.durability()) log.warn(details, doubt)
    isPrepared = true
  }
  void look()
}
