// `gatehouse check`: reads the configuration and the files that its rules look into, names every mistake, and does nothing else.

import { AccessMetrics } from '../../base/access-metrics.ts'
import { createLogger } from '../../base/log.ts'
import { loadConfig } from '../../config/load.ts'
import { AccessFiles } from '../access-files.ts'
import { configPath, type Input } from '../input.ts'
import { isUsable } from '../mistakes.ts'
import { print, tell } from '../terminal.ts'

export async function check(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env)
  if (!isUsable(path, loaded)) return 2
  const files = new AccessFiles(createLogger('error', { write: () => {} }), new AccessMetrics())
  try {
    await files.prepare(loaded.config, loaded.config)
  } catch (cause) {
    tell((cause as Error).message)
    return 2
  } finally {
    files.close()
  }
  print(`${path} is valid\n`)
  return 0
}
