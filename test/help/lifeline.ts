// Processes that end with that of the tests, even where it is killed and cleans up nothing.

import { spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/** Has the process killed once that of the tests ends, however it ends; returns what lets go of it, to be called when it has ended. */
export function endWithTests(pid: number): () => void {
  const guard = spawn('sh', ['-c', 'read _; kill -9 "$0"', `${pid}`], {
    // Its input ends with the process that has the other end.
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C is for the tests, which it must outlive.
    detached: true,
  })
  guard.unref()
  ;(guard.stdin as Socket).unref()
  return () => void guard.kill('SIGKILL')
}
