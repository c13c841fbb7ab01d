// Runs a command of `gatehouse` to its end.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import type { Asked } from './command-program.ts'
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

/** As `gatehouse`, but in one process for all commands, one at a time: for many of them, whose starts cost far more than what they do. */
export function quickGatehouse(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  input = '',
): Promise<Outcome> {
  const all = Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined)
  const asked = { args, env: Object.fromEntries(all) as Asked['env'], input }
  const outcome = latest.then(() => outcomeIn((program ??= startProgram()), asked))
  latest = outcome.catch(() => {})
  return outcome
}

let program: ChildProcess | null = null
let latest: Promise<unknown> = Promise.resolve()

/** Starts what ends with this process, and does not keep it. */
function startProgram(): ChildProcess {
  const [cli] = globSync(['process/cli.ts', 'cli-*.js'], { cwd: dirname(main) })
  const args = [pathToFileURL(join(dirname(main), cli!)).href]
  const child = fork(join(import.meta.dirname, 'command-program.ts'), args, { execArgv: [] })
  child.unref()
  return child.once('exit', () => {
    program = null
  })
}

async function outcomeIn(child: ChildProcess, asked: Asked): Promise<Outcome> {
  const over = new AbortController()
  const ended = once(child, 'exit', over).then(() => Promise.reject(new Error('the process has ended')))
  child.channel!.ref()
  child.send(asked)
  try {
    const [outcome] = await Promise.race([once(child, 'message', over), ended])
    return outcome
  } finally {
    over.abort()
    child.channel?.unref()
  }
}
