// Lua that Redis runs as one step, sent whole only to a server that doesn't know it yet.
import { createHash } from 'node:crypto'
import type { Argument, Command } from './connect.ts'

export interface Script {
  readonly text: string
  /** What Redis calls it. */
  readonly sha: string
}

/** Keeps Lua as a script; the tag lets editors colour it. */
export function lua(parts: TemplateStringsArray, ...values: readonly string[]): Script {
  const text = String.raw({ raw: parts }, ...values)
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** The command that runs a script by its name. */
export function byName(script: Script, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVALSHA', script.sha, keys.length, ...keys, ...args]
}

/** The command that runs a script and makes it known. */
export function whole(script: Script, keys: readonly string[], args: readonly Argument[]): Command {
  return ['EVAL', script.text, keys.length, ...keys, ...args]
}

/** Tells whether a server refused a script by its name since it doesn't know it. */
export function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT')
}
