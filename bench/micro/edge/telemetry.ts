// Measures what telemetry costs of a GET, in slices by turns with the same gateway without it: node bench/micro/edge/telemetry.ts [--sample 0.01,0] [--blocks 80].
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { runBlocks } from '../../interleaved/run-blocks.ts'
import { ratioInterval } from '../../interleaved/interval.ts'
import { type Started, startRunner } from '../../interleaved/runners.ts'
import { beAlone } from '../../load/alone.ts'
import { launchOrigin } from '../../load/peers.ts'
import { gatehouse } from '../../load/peers/gatehouse.ts'
import { median } from '../../load/statistics.ts'

const { values } = parseArgs({
  options: {
    /** The shares of requests that are sampled. */
    sample: { type: 'string', default: '0.01' },
    /** The ratio to `off` that is asked about. */
    bound: { type: 'string', default: '1.02' },
    blocks: { type: 'string', default: '160' },
  },
})
const off = 'off'
const shares = values.sample.split(',')

await beAlone()
const origin = await launchOrigin()
// Takes all that it gets, in this process, whose CPU nobody counts.
const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
const runners: Started[] = [await startRunner(gatehouse(off), 'get', origin.port)]
for (const share of shares) runners.push(await startRunner(sampling(share), 'get', origin.port))
const bound = Number(values.bound)
const questions = shares.map(name => ({ name, base: off, metric: 'cost', bound }) as const)
const blocks = await runBlocks(runners, questions, { slice: 100, maximumBlocks: Number(values.blocks) })
const costs = (name: string) => blocks.map(block => block.get(name)!.cost)
console.log(`${off}: ${median(costs(off)).toFixed(1)} µs of CPU a request`)
for (const share of shares) {
  const { ratio, low, high } = ratioInterval(costs(share), costs(off))
  const more = [ratio, low, high].map(one => `${((one - 1) * 100).toFixed(1)} %`)
  console.log(`sample ${share}: ${more[0]} more (${more[1]} to ${more[2]}, ${blocks.length} blocks)`)
}
for (const runner of runners)
  if ((await runner.stop()) > 0) console.error(`${runner.name}: unexpected responses`)
await origin.stop()
process.exit()

/** The gateway that samples a share of the requests, for a collector. */
function sampling(share: string) {
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const telemetry = `telemetry: { sample: ${share}, otlp: { url: '${url}' } }\n`
  return gatehouse(share, undefined, async () => telemetry)
}
