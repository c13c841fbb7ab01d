#!/usr/bin/env node
// Starts the program, which the Node that comes with the packages runs: its sources in a checkout, and what the build made of them in the package.

import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isFoundNode, runNode } from './pinned-node.js'

const [sources, built] = ['../src/main.ts', '../main.js'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
)
const program = existsSync(sources) ? sources : built
const args = process.argv.slice(2)
if (isFoundNode()) {
  process.argv = [process.execPath, program, ...args]
  await import(pathToFileURL(program).href)
} else runNode([program, ...args])
