// Runs all tests, `npm test`, as `node --test` does, but that many files have one process. Takes further options of `node --test`.

import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { processGroups, writeEntry } from './help/process-groups.ts'
import { runTests } from './help/test-runner.ts'

const help = (name: string) => new URL(`help/${name}`, import.meta.url).href
const reporters = ['spec', help('dearest-files.ts')].flatMap(reporter => [
  `--test-reporter=${reporter}`,
  '--test-reporter-destination=stdout',
])

/** Of four processes one computes, and the others wait for timers, disks and processes. */
const concurrency = Math.max(4, 4 * availableParallelism())

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tests-'))
try {
  const entries = processGroups().map((group, i) => writeEntry(folder, group, i))
  const given = process.argv.slice(2)
  const options = [
    `--import=${help('light-hooks.ts')}`,
    ...['--test', `--test-concurrency=${concurrency}`, '--test-timeout=300000', ...given],
    // Who asks for another reporter gets that alone.
    ...(given.some(option => option.startsWith('--test-reporter')) ? [] : reporters),
  ]
  process.exitCode = await runTests([...options, ...entries])
} finally {
  rmSync(folder, { recursive: true })
}
