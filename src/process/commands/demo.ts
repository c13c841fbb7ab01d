// `gatehouse demo`: runs the gateway before an origin that misbehaves on demand.

import { DemoOrigin } from '../demo-origin.ts'
import { configPath, type Input } from '../input.ts'
import { run } from '../run.ts'

export async function demo(input: Input): Promise<number> {
  const origin = new DemoOrigin()
  const variables = await origin.listen()
  process.stderr.write(
    'The front page of the demo lists what the origin can do: open the address below in a browser.\n\n',
  )
  const code = await run(configPath(input, 'demo.yaml'), { ...process.env, ...variables })
  origin.close()
  return code
}
