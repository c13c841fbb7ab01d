// `gatehouse health`: asks the gateway of the same configuration whether it is alive, for the health check of a container.

import { loadConfig } from '../../config/load.ts'
import { configPath, type Input } from '../input.ts'
import { isUsable } from '../mistakes.ts'
import { tell } from '../terminal.ts'
import { urlOf } from '../url.ts'

const patience = 2000

/** Returns 0 when the admin listener answers 200 to /healthz within two seconds; 1 when not, 2 for a configuration with mistakes. */
export async function health(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path)
  if (!isUsable(path, loaded)) return 2
  const url = `${urlOf(loaded.config.admin)}/healthz`
  const problem = await ask(url)
  if (problem === null) return 0
  tell(`gatehouse: ${url} ${problem}`)
  return 1
}

/** Returns what is wrong, or null. */
async function ask(url: string): Promise<string | null> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(patience) })
    return status === 200 ? null : `answers ${status}`
  } catch {
    return 'does not answer'
  }
}
