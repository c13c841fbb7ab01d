// Starts processes that consume and exchange credentials of a store, each what it is told.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'

const consumer = join(import.meta.dirname, 'consumer.ts')

/** What came of one try: its outcome, when it was first done, and the digests of the tokens of an exchange; of refresh tokens also when it began and ended. */
export type Outcome = readonly [
  outcome: boolean | string,
  at: number,
  access?: string,
  refresh?: string,
  began?: number,
  ended?: number,
]

/** Starts a process, and returns what tells it. */
export async function startConsumer(
  t: TestContext,
  url: string,
): Promise<(line: string) => Promise<readonly Outcome[]>> {
  const child = spawn(process.execPath, [consumer, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  assert.equal((await lines.next()).value, 'ready')
  return async line => {
    child.stdin.write(`${line}\n`)
    return JSON.parse((await lines.next()).value!)
  }
}
