// A path for a database of one test, in a folder that ends with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

export function temporaryFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'store-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'data', 'gatehouse.db')
}
