// Holds what the API said against its catalogue of faults.

import assert from 'node:assert/strict'
import { apiFaults } from '../../src/errors/catalogue/api-faults.ts'

/** Asserts that a mistake which came with a status is by a row of the catalogue: its number, its status and, where that never changes, its sentence. */
export function assertOfCatalogue(
  status: number,
  { code, message }: { readonly code: number; readonly message: string },
): void {
  const isRow = Object.values(apiFaults).some(
    row =>
      row.code === code &&
      row.status === status &&
      (typeof row.sentence === 'string' ? row.sentence === message : message !== ''),
  )
  assert.ok(isRow, `no row of the catalogue is ${status} ${code} ${message}`)
}
