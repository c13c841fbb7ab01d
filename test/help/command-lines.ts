// Runs lines of a shell that call `npx gatehouse` in one process, for many of them: a process for each costs far more than what it does.

import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import type { Outcome } from './command.ts'
import { root } from './source.ts'

const run = promisify(execFile)

/** Returns what runs a line, one at a time, with the variables given then beside those given here. */
export function commandLines(t: TestContext, env: NodeJS.ProcessEnv) {
  const child = fork(join(root, 'test/help/command-program.ts'), { cwd: root, env, execArgv: [] })
  t.after(() => child.kill('SIGKILL'))
  return async (line: string, more: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
    child.send({ args: await argumentsIn(line, { ...env, ...more }), env: more })
    const [outcome] = await once(child, 'message')
    return outcome
  }
}

/** Returns what a shell makes of the arguments of a line. */
async function argumentsIn(line: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const script = `npx() { shift; printf '%s\\0' "$@"; }\n${line}`
  const { stdout } = await run('sh', ['-c', script], { env })
  return stdout.split('\0').slice(0, -1)
}
