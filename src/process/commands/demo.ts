// `gatehouse demo`: runs the gateway before an origin that misbehaves on demand.

import { DemoOrigin } from '../demo/origin.ts'
import { bundledConfig, type Input } from './input.ts'
import { run } from '../gateway/run.ts'
import { greet } from '../gateway/log-output.ts'

export async function demo({ config }: Input): Promise<number> {
  const origin = new DemoOrigin()
  Object.assign(process.env, await origin.listen())
  greet('The front page of the demo lists what the origin can do. Open the address below in a browser.\n')
  const code = await run(config ?? bundledConfig('demo.yaml'))
  origin.close()
  return code
}
