// `gatehouse start`: runs the gateway.

import { configPath, givenAddresses, type Input } from './input.ts'
import { run } from '../gateway/run.ts'

export function start(input: Input): Promise<number> {
  return run(configPath(input), givenAddresses(input), input.replace)
}
