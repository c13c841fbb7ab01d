// `gatehouse check`: validates the configuration and the files of its rules.

import { AccessMetrics } from '../../metrics/counters/access-metrics.ts'
import { createLogger } from '../../log/log.ts'
import type { Config } from '../../config/model/config.ts'
import { type Loaded, loadConfig } from '../../config/load/load.ts'
import type { Mistake } from '../../config/file/mistake.ts'
import type { GivenAddresses } from '../../config/resolve/address-overrides.ts'
import { priceDateOf } from '../plane/price-date.ts'
import { AccessFiles } from '../plane/access-files.ts'
import { configPath, givenAddresses, type Input } from './input.ts'
import { isUsable } from '../terminal/config-mistakes.ts'
import { json } from '../terminal/format.ts'
import { print } from '../terminal/output.ts'

export async function check(input: Input): Promise<number> {
  const path = configPath(input)
  const loaded = await loadWhole(path, givenAddresses(input))
  if (input.json) {
    print(json(findingsOf(path, loaded)))
    return 'config' in loaded ? 0 : 2
  }
  if (!isUsable(path, loaded, true)) return 2
  print(`${path} is valid\n`)
  if (loaded.config.ai.hosts.length > 0) print(pricesOf(loaded.config))
  return 0
}

async function loadWhole(path: string, given: GivenAddresses): Promise<Loaded> {
  const loaded = loadConfig(path, process.env, { given })
  if ('mistakes' in loaded) return loaded
  const faults = await faultsOf(loaded.config)
  return faults.size === 0 ? loaded : loadConfig(path, process.env, { given, faults })
}

function findingsOf(path: string, loaded: Loaded) {
  const isValid = 'config' in loaded
  return {
    file: path,
    valid: isValid,
    mistakes: isValid ? [] : loaded.mistakes.map(viewMistake),
    warnings: isValid ? loaded.warnings.map(viewMistake) : [],
    list_prices_date: isValid ? priceDateOf(loaded.config) : null,
  }
}

/** A default has no line. */
function viewMistake({ line, column, path, message }: Mistake) {
  return { line: line || null, column: column || null, path, message }
}

function pricesOf(config: Config): string {
  const { priceList } = config.ai
  const source =
    priceList === null ? 'that come with Gatehouse' : `in ai.price_list (${priceList.prices.length})`
  return `list prices ${source} are of ${priceDateOf(config) ?? 'an unknown day'}\n`
}

async function faultsOf(config: Config): Promise<ReadonlyMap<string, string>> {
  const files = new AccessFiles(createLogger('error', { write: () => {} }), new AccessMetrics())
  const faults = new Map<string, string>()
  const note = (file: string) => (cause: Error) =>
    void faults.set(file, `names an invalid file: ${cause.message}`)
  try {
    for (const list of config.lists) await files.lists.open([list]).catch(note(list.path))
    for (const database of config.geo.databases) await files.geo.open([database]).catch(note(database))
  } finally {
    files.close()
  }
  return faults
}
