// `gatehouse start`: runs the gateway.

import { configPath, type Input } from './input.ts'
import { run } from '../gateway/run.ts'

export function start(input: Input): Promise<number> {
  return run(configPath(input), input.replace)
}
