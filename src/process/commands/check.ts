// `gatehouse check`: validates the configuration and the files that its rules use, reports every mistake, and changes nothing.

import { AccessMetrics } from '../../metrics/access-metrics.ts'
import { createLogger } from '../../log/log.ts'
import type { Config } from '../../config/config.ts'
import { loadConfig } from '../../config/file/load.ts'
import { priceDateOf } from '../gateway/price-date.ts'
import { AccessFiles } from '../plane/access-files.ts'
import { configPath, type Input } from './input.ts'
import { isUsable } from './mistakes.ts'
import { print } from './terminal.ts'

export async function check(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env)
  if ('mistakes' in loaded) return isUsable(path, loaded) ? 0 : 2
  const faults = await faultsOf(loaded.config)
  // Parsed again, so that each fault is reported at the line that names the file.
  const whole = faults.size === 0 ? loaded : loadConfig(path, process.env, faults)
  if (!isUsable(path, whole, true)) return 2
  print(`${path} is valid\n`)
  if ('config' in whole && whole.config.ai.hosts.length > 0) print(pricesOf(whole.config))
  return 0
}

/** Returns a line about where the costs of AI calls come from, and how old that is. */
function pricesOf(config: Config): string {
  const { priceList } = config.ai
  const source =
    priceList === null ? 'that come with Gatehouse' : `in ai.price_list (${priceList.prices.length})`
  return `list prices ${source} are of ${priceDateOf(config) ?? 'an unknown day'}\n`
}

/** Reads the files that rules use, and returns what is wrong with each. */
async function faultsOf(config: Config): Promise<ReadonlyMap<string, string>> {
  const files = new AccessFiles(createLogger('error', { write: () => {} }), new AccessMetrics())
  const faults = new Map<string, string>()
  const note = (file: string) => (cause: Error) =>
    void faults.set(file, `names an invalid file: ${cause.message}`)
  try {
    for (const list of config.lists) await files.lists.prepare([list]).catch(note(list.path))
    for (const database of config.geo.databases) await files.geo.prepare([database]).catch(note(database))
  } finally {
    files.close()
  }
  return faults
}
