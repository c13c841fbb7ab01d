#!/usr/bin/env node
// Starts the program, which the Node that comes with the packages runs. In a checkout: what the build made of the sources as they are, or else the sources.

import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isBuilt } from './built.js'
import { isFoundNode, runNode } from './pinned-node.js'

const [self, root, sources, built, packaged] = [
  'gatehouse.js',
  '..',
  '../src/main.ts',
  '../dist/main.js',
  '../main.js',
].map(path => fileURLToPath(new URL(path, import.meta.url)))
const program = existsSync(sources) ? (isBuilt(root) ? built : sources) : packaged
// What an upgrade forks keeps its process: another one would lose the channel between the two.
if (process.send !== undefined || (isFoundNode() && !process.execve))
  await import(pathToFileURL(program).href)
else {
  // In a checkout, an upgrade chooses again.
  if (program !== packaged) process.env.GATEHOUSE_LAUNCHER = self
  // Threads that allocate apart keep what they needed once: all but the main thread share one arena of the C library.
  process.env.MALLOC_ARENA_MAX ??= '2'
  // Also where this is the right Node: a process of its own keeps nothing of what the choice took.
  runNode([program, ...process.argv.slice(2)])
}
