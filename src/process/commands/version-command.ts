// `gatehouse version`: what this program is.

import { commit, version } from '../system/version.ts'
import type { Input } from './input.ts'
import { json } from '../terminal/format.ts'
import { print } from '../terminal/output.ts'

export function showVersion(input: Input): number {
  print(input.json ? json({ version, commit: commit(), node: process.versions.node }) : `${versionLine()}\n`)
  return 0
}

/** Returns the version, with the start of the commit where that is known. */
export function versionLine(): string {
  const from = commit()
  return from === null ? version : `${version} (${from.slice(0, 12)})`
}
