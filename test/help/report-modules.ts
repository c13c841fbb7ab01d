// Loaded first by a process, has it write which modules it loaded, of Node and others, to a file in the folder MODULES_TO when it ends.

import { writeFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'

const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
process.on('exit', () => {
  const { moduleLoadList } = process as unknown as { readonly moduleLoadList: readonly string[] }
  writeFileSync(
    join(process.env.MODULES_TO!, `${process.pid}.json`),
    JSON.stringify([...loaded, ...moduleLoadList]),
  )
})
