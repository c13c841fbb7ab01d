// A reporter that ends the output of the tests with the files that took longest, by the sum of their tests, and their seconds.

import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import { root } from './source.ts'

/** How many files it names. */
const most = 10

/** Returns, when all tests have ended, a line for each of the files that took longest. */
// biome-ignore lint/style/noDefaultExport: node:test knows a reporter by it
export default async function* dearestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const times = new Map<string, number>()
  for await (const { type, data } of events) {
    if ((type !== 'test:pass' && type !== 'test:fail') || data.nesting > 0 || !data.file) continue
    times.set(data.file, (times.get(data.file) ?? 0) + data.details.duration_ms)
  }
  const dearest = [...times].toSorted(([, a], [, b]) => b - a).slice(0, most)
  if (dearest.length > 0) yield '\nthe files that took longest, in seconds:\n'
  for (const [file, ms] of dearest) yield `${(ms / 1_000).toFixed(1).padStart(7)} ${relative(root, file)}\n`
}
