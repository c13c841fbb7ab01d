// `gatehouse check`: reads the configuration, names every mistake, and does nothing else.

import { loadConfig } from '../../config/load.ts'
import { configPath, type Input } from '../input.ts'
import { isUsable } from '../mistakes.ts'
import { print } from '../terminal.ts'

export function check(input: Input): number {
  const path = configPath(input)
  const loaded = loadConfig(path, process.env)
  if (!isUsable(path, loaded)) return 2
  print(`${path} is valid\n`)
  return 0
}
