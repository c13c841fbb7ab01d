// Finds out what is installed and in which version, for the peers and the heads of the reports.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The top of this source tree. */
export const ROOT = join(import.meta.dirname, '../..')

/** Returns the path of what is started: what `npm start` starts here, or the sources of the tree in a folder. */
export function programIn(root: string | undefined): string {
  return root === undefined ? join(ROOT, 'bin/gatehouse.js') : join(root, 'src/main.ts')
}

/** Returns the version of the package in a folder, or null where there is none. */
export function packageVersion(folder: string): string | null {
  const path = join(folder, 'package.json')
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).version : null
}

/** Returns the first version number that a command prints, or null where it cannot be run. */
export function commandVersion(file: string, args: readonly string[]): string | null {
  const { stdout, stderr } = spawnSync(file, args, { encoding: 'utf8' })
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[0] ?? null
}
