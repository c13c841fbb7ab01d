// `gatehouse health`: asks the gateway of the same configuration whether it is alive, for the health check of a container.

import { loadConfig } from '../../config/load.ts'
import { configPath, type Input } from '../input.ts'
import { urlOf } from '../url.ts'

const patience = 2000

/** Returns 0 when the admin listener answers 200 to /healthz within two seconds, else 1 with the reason on stderr. */
export async function health(input: Input): Promise<number> {
  const loaded = loadConfig(configPath(input), process.env)
  const problem =
    'mistakes' in loaded
      ? 'the configuration has mistakes'
      : await ask(`${urlOf(loaded.config.admin)}/healthz`)
  if (problem !== null) process.stderr.write(`gatehouse: ${problem}\n`)
  return problem === null ? 0 : 1
}

async function ask(url: string): Promise<string | null> {
  try {
    const { status } = await fetch(url, { signal: AbortSignal.timeout(patience) })
    return status === 200 ? null : `${url} answers ${status}`
  } catch {
    return `${url} does not answer`
  }
}
