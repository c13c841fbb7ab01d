// Runs the Node that comes with the packages, from whichever Node: node bin/pinned-node.js [OPTION]... FILE [ARGUMENT]...
//
// In plain JavaScript that old Node understands. Not every npm puts the command of an optional package into node_modules/.bin, so its package is looked for.

import { spawn } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const { platform, arch } = process
/** The oldest Node that runs the program, where there is no other. */
const oldest = { major: 24, minor: 12 }
/** What the Node of the packages needs on Linux; a system with another C library has no such file. */
const loaders = { x64: '/lib64/ld-linux-x86-64.so.2', arm64: '/lib/ld-linux-aarch64.so.1' }
/** The names of its packages differ with their platform. */
const packages = [`node-${platform === 'win32' ? 'win' : platform}-${arch}`, `node-bin-${platform}-${arch}`]

/** Replaces this process by Node with these arguments, where that can be done; else passes signals on to it, and ends as it does. */
export function runNode(args) {
  const node = findNode()
  if (node === null) {
    console.error(
      `This needs Node ${oldest.major}.${oldest.minor} or newer, and is started by ${process.version}: install its own with \`npm ci --include=optional\`, or use a newer one.`,
    )
    process.exitCode = 1
  } else if (process.execve) process.execve(node, [node, ...args], process.env)
  else attend(spawn(node, args, { stdio: 'inherit' }))
}

/** Whether this process is run by the Node that `runNode` would use. */
export function isFoundNode() {
  const node = findNode()
  return node !== null && realpathSync(node) === process.execPath
}

/** Returns the path of the Node of the packages, or of the one that runs this if it is new enough; else null. */
function findNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isNew = major > oldest.major || (major === oldest.major && minor >= oldest.minor)
  return packagedNode() ?? (isNew ? process.execPath : null)
}

function packagedNode() {
  if (platform === 'linux' && !existsSync(loaders[arch] ?? '')) return null
  const { resolve } = createRequire(import.meta.url)
  for (const name of packages) {
    try {
      const manifest = resolve(`${name}/package.json`)
      return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.node)
    } catch {
      // It may have the other name.
    }
  }
  return null
}

function attend(child) {
  // A terminal sends SIGINT to both; the gateway takes the second for an echo of the first.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'])
    process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  runNode(process.argv.slice(2))
