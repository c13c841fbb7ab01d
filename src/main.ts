#!/usr/bin/env node
// The door: hands the arguments to the table of commands.

import { enableCompileCache } from 'node:module'
import './process/heap.ts'
import './process/threads.ts'

enableCompileCache()
const { runCommand } = await import('./process/commands/cli.ts')
process.exitCode = await runCommand(process.argv.slice(2))
