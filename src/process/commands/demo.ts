// `gatehouse demo`: runs the gateway before an origin that misbehaves on demand.

import { DemoOrigin } from '../demo/origin.ts'
import { bundledConfig, givenAddresses, type Input } from './input.ts'
import { run } from '../gateway/run.ts'
import { greet } from '../terminal/log-output.ts'

export async function demo(input: Input): Promise<number> {
  const origin = new DemoOrigin()
  Object.assign(process.env, await origin.listen())
  greet('The front page of the demo lists what the origin can do. Open the address below in a browser.\n')
  const code = await run(input.config ?? bundledConfig('demo.yaml'), givenAddresses(input))
  origin.close()
  return code
}
