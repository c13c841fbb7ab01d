import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { hex } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const writer = join(import.meta.dirname, 'writer.ts')

/** Starts a writer, kills it after so many lines, and gives all that it said before it was gone. */
async function killAfter(t: TestContext, file: string, account: string, lines: number): Promise<string[]> {
  const child = spawn(process.execPath, [writer, file, account], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const said: string[] = []
  for await (const line of createInterface(child.stdout)) {
    if (said.push(line) === lines) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  assert.equal(child.signalCode, 'SIGKILL')
  return said
}

test('nothing that was acknowledged is lost when all who write are killed', async t => {
  const file = temporaryFile(t)
  const account = hex(16)
  const said = await Promise.all([120, 200].map(lines => killAfter(t, file, account, lines)))
  const store = await SqliteStore.open(file, { commandTimeout: 2000 })
  t.after(() => store.close())
  for (const line of said.flat()) {
    const [kind, id] = line.split(' ') as [string, string]
    const kept = kind === 'token' ? store.tokens.get(account, id) : store.logs.get(account, kind, id)
    assert.ok(await kept, line)
  }
})
