// What the tests need beyond npm: installs it with apt-get where it may, else says what is missing. Runs before `npm test`.

import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

interface Need {
  readonly command: string
  readonly aptPackage: string
  /** The variable that names another place of the command. */
  readonly variable: string
}

const needs: readonly Need[] = [
  { command: 'chromium', aptPackage: 'chromium', variable: 'CHROMIUM' },
  { command: 'curl', aptPackage: 'curl', variable: 'CURL' },
  { command: 'openssl', aptPackage: 'openssl', variable: 'OPENSSL' },
  { command: 'redis-server', aptPackage: 'redis-server', variable: 'REDIS_SERVER' },
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

const missing = needs.filter(need => !isPresent(need))
if (missing.length > 0) install(missing)

function isPresent({ command, variable }: Need): boolean {
  const named = process.env[variable]
  if (named) return isExecutable(named)
  return (process.env.PATH ?? '').split(delimiter).some(folder => isExecutable(join(folder, command)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function install(missing: readonly Need[]): void {
  const packages = missing.map(({ aptPackage }) => aptPackage)
  const root = asRoot()
  if (root)
    for (const pause of [...pauses, null]) {
      if (hasInstalled([...root, 'apt-get', ...patiently], packages) || pause === null) break
      console.error(`apt-get failed; retrying in ${pause} seconds.`)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause * 1_000)
    }
  for (const need of missing.filter(need => !isPresent(need))) {
    console.error(
      `The tests need ${need.command}: install the package ${need.aptPackage}, or name its path in ${need.variable}.`,
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
