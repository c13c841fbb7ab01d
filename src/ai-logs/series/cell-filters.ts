// Log filters that can be applied to sums.

import type { Cells } from '../../store/log-sums/cells.ts'
import { matches } from '../../store/contract/log-match.ts'
import type { LogSummary } from '../../store/records/records.ts'
import type { LogField, LogFilter } from '../../store/contract/store.ts'

const cellFields: readonly LogField[] = ['provider', 'model', 'token_id', 'client_id']

/** Whether filters can be applied to cells; others need the entries. */
export function arePlain(filters: readonly LogFilter[]): boolean {
  return filters.every(({ field }) => cellFields.includes(field))
}

/** Yields the cells that match filters that `arePlain`. */
export function* matchingCells(cells: Cells, filters: readonly LogFilter[]) {
  for (const cell of cells.all()) {
    const { client, ...kind } = cell.kind
    const app = client === null ? {} : { app: { client } }
    if (filters.length === 0 || matches({ ...kind, ...app } as unknown as LogSummary, filters)) yield cell
  }
}
