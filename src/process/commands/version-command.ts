// `gatehouse version`: what this program is.

import { commit, version } from '../system/version.ts'
import type { Input } from './input.ts'
import { printResult } from '../terminal/output.ts'

export function showVersion(input: Input): number {
  return printResult(input, { version, commit: commit(), node: process.versions.node }, `${versionLine()}\n`)
}

export function versionLine(): string {
  const from = commit()
  return from === null ? version : `${version} (${from.slice(0, 12)})`
}
