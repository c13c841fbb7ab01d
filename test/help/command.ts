// Runs a command of `gatehouse` to its end.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { main } from './gateway.ts'

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs it with a terminal for nobody; `input` is what it reads from stdin. */
export async function gatehouse(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
): Promise<Outcome> {
  const child = spawn(process.execPath, [main, ...args], { env: { ...process.env, ...env } })
  // A command that does not read it may be gone before it is written.
  child.stdin.on('error', () => {}).end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code, stdout, stderr }
}
