// A folder of files that are replaced while they are watched, and what is logged and counted of that.
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { AccessMetrics } from '../../src/metrics/counters/access-metrics.ts'
import { createLogger } from '../../src/log/log.ts'

/** Makes a folder that goes after the test; `write` puts a whole file in the place of the one before and gives its path. */
export function watchedFolder(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'watched-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const errors: Record<string, unknown>[] = []
  const warnings: Record<string, unknown>[] = []
  const log = createLogger('warn', {
    write: line => {
      const entry = JSON.parse(line)
      ;(entry.level === 'warn' ? warnings : errors).push(entry)
    },
  })
  const write = (name: string, content: Buffer | string) => {
    writeFileSync(join(folder, 'new'), content)
    renameSync(join(folder, 'new'), join(folder, name))
    return join(folder, name)
  }
  const remove = (name: string) => rmSync(join(folder, name))
  return { write, remove, log, errors, warnings, metrics: new AccessMetrics() }
}
