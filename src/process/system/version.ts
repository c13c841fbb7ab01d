// The version of this gateway, from its package: for --version, the banner and the metrics.

import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import manifest from '../../../package.json' with { type: 'json' }

export const { version } = manifest

/** What runs, as the log tells: the sources of a checkout, or what the build made of them. */
export const program = import.meta.url.endsWith('.ts') ? 'sources' : 'package'

/** Returns the commit of the build, or of the checkout that runs; null if unknown. */
export function commit(): string | null {
  const path = findPackageJSON(import.meta.url)!
  const { gitHead } = JSON.parse(readFileSync(path, 'utf8')) as { readonly gitHead?: string }
  const folder = dirname(path)
  if (gitHead !== undefined || !existsSync(join(folder, '.git'))) return gitHead ?? null
  const { status, stdout } = spawnSync('git', ['-C', folder, 'rev-parse', 'HEAD'], { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
