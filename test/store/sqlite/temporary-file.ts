// A path for a database of one test, in a folder that ends with it.
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { quickFolder } from '../../help/quick-folder.ts'

export function temporaryFile(t: TestContext): string {
  return join(quickFolder(t, 'store'), 'data', 'gatehouse.db')
}
