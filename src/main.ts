#!/usr/bin/env node
// The door: hands the arguments to the table of commands.

import { statSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { makeFolderSync } from './base/system/folders.ts'
import './process/system/thread-pool.ts'

// The gateway that is to be replaced by this process learns why it is not, whatever fails.
if (process.env.GATEHOUSE_UPGRADE !== undefined)
  process.once('uncaughtExceptionMonitor', ({ message }) =>
    process.send?.({ kind: 'failed', reason: message }),
  )

// Before our own code; other commands would load much of Node for nothing.
const serves = ['start', 'demo'].includes(process.argv[2]!)
if (serves) await import('./process/system/v8.ts')

const { HOME, XDG_CACHE_HOME = HOME && join(HOME, '.cache') } = process.env
// Never in the temporary folder of all users, where another could have left code for us to run.
if (XDG_CACHE_HOME && isAbsolute(XDG_CACHE_HOME)) {
  // A folder for each, or commands and starts would overwrite what they share: they have other flags of V8.
  const folder = join(XDG_CACHE_HOME, 'gatehouse', serves ? 'serving' : 'commands')
  try {
    makeFolderSync(folder)
    // Nor in a folder of another user, as with sudo where it keeps HOME; in images, it is that of root.
    if ([0, process.getuid?.()].includes(statSync(folder).uid)) enableCompileCache(folder)
  } catch {
    // Then the code is compiled at each start.
  }
}

const { runCommand } = await import('./process/cli.ts')
process.exitCode = await runCommand(process.argv.slice(2))
