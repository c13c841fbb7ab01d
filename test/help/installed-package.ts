// The package as `npm i -g` installs it, for tests that use it as its users do.

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { main, sources } from './gateway.ts'
import { root } from './source.ts'

export interface InstalledPackage {
  /** The folder of the package. */
  readonly folder: string
  /** A home with nothing in it, and what a shell needs to find the command. */
  readonly home: string
  readonly env: NodeJS.ProcessEnv
}

/**
 * Installs the program into a folder, as `npm test` has built it where it has, packed by npm or as it is, and without the
 * network: its dependencies are those of the checkout, and no others.
 */
export function installPackage(at: string, isPacked = true): InstalledPackage {
  const [prefix, home] = ['prefix', 'home'].map(name => join(at, name)) as [string, string]
  const built = main === sources ? join(at, 'built') : dirname(main)
  if (main === sources) execFileSync(process.execPath, ['build/package.ts', built], { cwd: root })
  const folder = join(prefix, 'lib/node_modules/gatehouse')
  for (const path of [join(folder, 'node_modules'), join(prefix, 'bin'), home])
    mkdirSync(path, { recursive: true })
  if (isPacked) {
    const env = { ...process.env, npm_config_cache: join(at, 'cache') }
    execFileSync('npm', ['pack', '--silent', built], { cwd: at, env })
    const [archive] = globSync('gatehouse-*.tgz', { cwd: at })
    execFileSync('tar', ['-xzf', join(at, archive!), '--strip-components=1', '-C', folder])
  } else cpSync(built, folder, { recursive: true })
  const { bin, dependencies, optionalDependencies } = manifestIn(folder)
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    const target = join(root, 'node_modules', name)
    if (!existsSync(target)) continue
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    symlinkSync(target, join(folder, 'node_modules', name))
  }
  symlinkSync(join(folder, bin.gatehouse), join(prefix, 'bin/gatehouse'))
  const { PATH } = process.env
  return { folder, home, env: { HOME: home, PATH: `${join(prefix, 'bin')}${delimiter}${PATH}` } }
}

/** Returns the package.json of a package. */
export function manifestIn(folder: string) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
