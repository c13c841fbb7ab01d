// Runs `node --test` so that nothing that it has started outlives it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { root } from './source.ts'

/** Returns its exit code. A signal that ends it also ends the processes of its tests, and those that they have started. */
export async function runTests(options: readonly string[]): Promise<number> {
  // A group of its own: Node ends the processes of tests alone, and not what they have started.
  const runner = spawn(process.execPath, options, { cwd: root, stdio: 'inherit', detached: true })
  const endGroup = (signal: NodeJS.Signals) => {
    try {
      process.kill(-runner.pid!, signal)
    } catch {
      // All have ended.
    }
  }
  let isEnded = false
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      isEnded = true
      endGroup(signal)
    })
  const [code, signal] = await once(runner, 'exit')
  if (isEnded) endGroup('SIGKILL')
  if (signal !== null) console.error(`the runner of the tests was ended by ${signal}`)
  return code ?? 1
}
