// Where tests keep what the gateway and Redis write and wait for: in memory where there is enough of it, since the disk of a busy machine may need a second for
// each write. kill -9 takes nothing of it either.

import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

const memory = '/dev/shm'
const enough = 2 ** 30

/** Makes a folder that goes with the test; `what` is in its name. */
export function quickFolder(t: TestContext, what: string): string {
  const folder = mkdtempSync(join(hasMemory() ? memory : tmpdir(), `gatehouse-${what}-`))
  // Who writes to it may still be ending.
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }))
  return folder
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize > enough
  } catch {
    return false
  }
}
