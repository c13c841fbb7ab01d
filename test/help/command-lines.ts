// Runs lines of a shell that call `npx gatehouse` in one process, for many of them: a process for each costs far more than what it does.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Outcome, quickGatehouse } from './command.ts'

const run = promisify(execFile)

/** Returns what runs a line, with the variables given then beside those given here. */
export function commandLines(env: NodeJS.ProcessEnv) {
  return async (line: string, more: NodeJS.ProcessEnv = {}): Promise<Outcome> => {
    const all = { ...env, ...more }
    return quickGatehouse(await argumentsIn(line, all), all)
  }
}

/** Returns what a shell makes of the arguments of a line. */
async function argumentsIn(line: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const script = `npx() { shift; printf '%s\\0' "$@"; }\n${line}`
  const { stdout } = await run('sh', ['-c', script], { env })
  return stdout.split('\0').slice(0, -1)
}
