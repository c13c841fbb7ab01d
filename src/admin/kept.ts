// What the handlers of all kept records share: a page of them, and a change that no other write may come between.

import type { Records } from '../store/store.ts'
import type { Answer, Window } from './envelope.ts'
import type { PageQuery } from './query.ts'

/** A new record, or why there is none. */
export type Revised<T> = { readonly record: T } | Answer

/** How many records are read at a time where all must be looked at. */
const batch = 500

/** Cuts a page of an account's records, in the order of their creation. */
export async function pageOf<T>(records: Records<T>, account: string, { page, perPage }: PageQuery) {
  const { items, total } = await records.list(account, { offset: (page - 1) * perPage, limit: perPage })
  return { items, window: { page, perPage, total } satisfies Window }
}

/** Cuts a page of what is left of an account's records when they have been filtered or turned round. */
export async function pageOfSome<T>(
  records: Records<T>,
  account: string,
  { page, perPage }: PageQuery,
  choose: (all: readonly T[]) => readonly T[],
) {
  const some = choose(await everyOne(records, account))
  const items = some.slice((page - 1) * perPage, page * perPage)
  return { items, window: { page, perPage, total: some.length } satisfies Window }
}

/**
 * Puts a new record in place of the one that is kept: `change` is asked again whenever another write came between, so that the last one wins whole. Gives the
 * new record, or the refusal that `change` gave instead of one; null when there is none to change.
 */
export async function revise<T>(
  records: Records<T>,
  account: string,
  id: string,
  change: (kept: T) => Revised<T>,
): Promise<Revised<T> | null> {
  for (;;) {
    const kept = await records.get(account, id)
    if (kept === null) return null
    const revised = change(kept.record)
    if (!('record' in revised) || (await records.replace(revised.record, kept.version))) return revised
  }
}

/** Writes a moment as the API shows it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

async function everyOne<T>(records: Records<T>, account: string): Promise<readonly T[]> {
  const all: T[] = []
  for (;;) {
    const { items } = await records.list(account, { offset: all.length, limit: batch })
    all.push(...items)
    if (items.length < batch) return all
  }
}
