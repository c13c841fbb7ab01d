// `gatehouse upgrade`: has the gateway of a configuration replaced by a new process from the code on disk, and waits for it.

import { loadConfig } from '../../config/file/load.ts'
import { askForUpgrade } from '../gateway/handover.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { tell } from './terminal.ts'
import { urlOf } from '../url.ts'

/** Returns 0 once the new gateway serves; 1 where it does not, or none runs, 2 for a configuration with mistakes. */
export async function upgrade(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const { admin } = loaded.config
  const reason = await askForUpgrade(admin)
  if (reason === null) return 0
  tell(`gatehouse: ${reason ?? `no gateway with this data folder responds at ${urlOf(admin)}`}`)
  return 1
}
