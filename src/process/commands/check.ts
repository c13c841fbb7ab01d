// `gatehouse check`: reads the configuration, names every mistake, and does nothing else.

import { loadConfig } from '../../config/load.ts'
import { formatMistake } from '../../config/mistake.ts'
import { configPath, type Input } from '../input.ts'

export function check(input: Input): number {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env)
  if ('mistakes' in loaded) {
    for (const mistake of loaded.mistakes) process.stderr.write(`${formatMistake(path, mistake)}\n`)
    return 2
  }
  for (const warning of loaded.warnings) process.stderr.write(`${formatMistake(path, warning)} (a warning)\n`)
  process.stdout.write(`${path} is valid\n`)
  return 0
}
