// What the tests need beyond the packages of the project: installs it with apt-get where it may, else says what is missing.
// Runs before `npm test`.

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Need {
  /** Any of these will do, the first best. */
  readonly commands: readonly [string, ...string[]]
  /** The packages that have them, in the same order, where they have other names. */
  readonly packages?: readonly [string, ...string[]]
  /** The variable that names another place of the command. */
  readonly variable: string
}

const needs: readonly Need[] = [
  // The same engine without the windows around it opens a page at a fifth of the cost.
  { commands: ['chromium-headless-shell', 'chromium'], variable: 'CHROMIUM' },
  { commands: ['curl'], variable: 'CURL' },
  { commands: ['openssl'], variable: 'OPENSSL' },
  { commands: ['h2load'], packages: ['nghttp2-client'], variable: 'H2LOAD' },
  { commands: ['redis-server'], variable: 'REDIS_SERVER' },
  // An authority for tests, by Let's Encrypt.
  { commands: ['pebble'], variable: 'PEBBLE' },
  // What checks the alerts and units of deploy/. The package of systemd also has systemd-socket-activate.
  { commands: ['promtool'], packages: ['prometheus'], variable: 'PROMTOOL' },
  { commands: ['systemd-analyze'], packages: ['systemd'], variable: 'SYSTEMD_ANALYZE' },
]

/** Seconds before each further attempt: mirrors fail for a moment, and lists of packages are replaced while they are read. */
const pauses = [1, 10, 30]

/** Has apt-get retry downloads, fail where a list is incomplete, and wait for others that install. */
const patiently = [
  '-o',
  'Acquire::Retries=3',
  '-o',
  'APT::Update::Error-Mode=any',
  '-o',
  'DPkg::Lock::Timeout=120',
]

const lacking = needs.filter(need => !isPresent(need, need.commands.slice(0, 1)))
if (lacking.length > 0) install(lacking)

function isPresent({ variable }: Need, commands: readonly string[]): boolean {
  const named = process.env[variable]
  if (named) return isExecutable(named)
  const folders = (process.env.PATH ?? '').split(delimiter)
  return commands.some(command => folders.some(folder => isExecutable(join(folder, command))))
}

function isMissing(need: Need): boolean {
  return !isPresent(need, need.commands)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Asks for the best of each once, and then for what is more common, until nothing is missing. */
function install(lacking: readonly Need[]): void {
  const root = asRoot()
  let packages = lacking.map(({ commands, packages = commands }) => packages[0])
  if (root)
    for (const pause of [...pauses, null]) {
      if (hasInstalled([...root, 'apt-get', ...patiently], packages)) break
      const missing = lacking.filter(isMissing)
      if (missing.length === 0 || pause === null) break
      packages = missing.map(({ commands, packages = commands }) => packages.at(-1)!)
      console.error(`apt-get failed; retrying in ${pause} seconds.`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause * 1_000)
    }
  for (const { commands, packages = commands, variable } of lacking.filter(isMissing)) {
    console.error(
      `The tests need ${commands.at(-1)}: install the package ${packages.at(-1)}, or name its path in ${variable}.`,
    )
    process.exitCode = 1
  }
}

function hasInstalled(apt: readonly string[], packages: readonly string[]): boolean {
  return (
    run([...apt, 'update', '-qq']) &&
    run([...apt, 'install', '-y', '-qq', '--no-install-recommends', ...packages])
  )
}

/** Returns what to put before a command so that root runs it; null where that, or apt-get, is not to be had. */
function asRoot(): readonly string[] | null {
  if (!succeeds(['apt-get', '--version'])) return null
  if (process.getuid?.() === 0) return []
  return succeeds(['sudo', '-n', 'true']) ? ['sudo', '-n'] : null
}

function succeeds([command, ...args]: readonly string[]): boolean {
  return spawnSync(command!, args, { stdio: 'ignore' }).status === 0
}

function run([command, ...args]: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command!, args, { stdio: ['ignore', 'ignore', 'inherit'], env }).status === 0
}
