// Many writers of two processes on one file: a lock that others hold is waited for, and never taken for a file that is gone.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { thorough } from '../../help/thorough.ts'
import type { Crowded } from './crowd.ts'
import { temporaryFile } from './temporary-file.ts'

const program = join(import.meta.dirname, 'crowd.ts')

async function crowd(t: TestContext, file: string, writers: number, ms: number): Promise<Crowded> {
  const args = [program, file, String(writers), String(ms)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill())
  return JSON.parse(await text(child.stdout))
}

for (const writers of thorough([16, 32], [32])) {
  test(`with two processes and ${writers} writers each, none finds the store unreachable`, async t => {
    const file = temporaryFile(t)
    await (await SqliteStore.open(file, { commandTimeout: 250 })).close()
    const crowds = await Promise.all([0, 1].map(() => crowd(t, file, writers, thorough(1_500, 600))))
    for (const { written, failures, latency } of crowds) {
      t.diagnostic(`${written} written; ms: ${JSON.stringify(latency)}`)
      assert.deepEqual(failures, [])
    }
    const [less, more] = crowds.map(({ written }) => written).sort((a, b) => a - b) as [number, number]
    // On a busy machine, one of them has several times as much of the processor.
    assert.ok(less > more / 20, `each gets its share: ${less} and ${more}`)
  })
}
