// Knows whether what the build made of the sources is what the sources are now.
//
// In plain JavaScript that old Node understands.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** The file in `dist` that the build writes last. */
export const stampName = 'sources.sha256'

/** What the package is made of. Files of folders are known by size and time of change, which no tool sets back; the others are small. */
const folders = ['bin', 'build', 'config', 'docs', 'src']
const files = ['LICENSE', 'SECURITY.md', 'package.json', 'node_modules/.package-lock.json']

/** Returns a digest that changes with any of the sources in a checkout, and with the packages that become part of the program. */
export function stampOf(root) {
  const hash = createHash('sha256')
  for (const folder of folders) addFolder(hash, root, folder)
  for (const file of files) {
    const path = join(root, file)
    hash.update(`${file}\n`).update(existsSync(path) ? readFileSync(path) : '')
  }
  return hash.digest('hex')
}

/** Whether the `dist` of a checkout was built from its sources as they are. */
export function isBuilt(root) {
  const stamp = join(root, 'dist', stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === stampOf(root)
}

function addFolder(hash, root, folder) {
  if (!existsSync(join(root, folder))) return
  for (const name of readdirSync(join(root, folder)).sort()) {
    const path = `${folder}/${name}`
    const stats = statSync(join(root, path), { throwIfNoEntry: false })
    if (stats?.isDirectory()) addFolder(hash, root, path)
    else hash.update(`${path} ${stats?.size} ${stats?.ctimeMs}\n`)
  }
}
