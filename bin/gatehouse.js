#!/usr/bin/env node
// Starts the program, which the Node that comes with the packages runs. In a checkout: what the build made of the sources as they are, or else the sources.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isBuilt } from './built.js'
import { isFoundNode, runNode } from './pinned-node.js'

// What an upgrade forks keeps its Node: another one would lose the channel between the two.
if (process.send === undefined && !isFoundNode()) runNode(process.argv.slice(1))
else await import(programFrom(import.meta.url))

/** Returns the URL of the program. Its arguments stay those of this file, so that an upgrade chooses again. */
function programFrom(here) {
  const [root, sources, built, packaged] = ['..', '../src/main.ts', '../dist/main.js', '../main.js'].map(
    path => new URL(path, here),
  )
  if (!existsSync(sources)) return packaged
  return isBuilt(fileURLToPath(root)) ? built : sources
}
