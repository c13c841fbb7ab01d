// Measures what telemetry costs of a GET, in slices by turns with the same gateway without it: node bench/micro/edge/telemetry.ts [--sample 0.01,1].
// Two processes of one program differ by some percent for as long as they run, so that each round starts new ones, in another order; the share `same` is another
// gateway without telemetry, and shows how much that is.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { type Block, runBlock } from '../../interleaved/blocks.ts'
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
    rounds: { type: 'string', default: '4' },
    /** Blocks of a round, of two slices of each gateway, behind those in which the code of spans gets warm. */
    blocks: { type: 'string', default: '160' },
    warm: { type: 'string', default: '80' },
    /** Milliseconds. */
    slice: { type: 'string', default: '50' },
  },
})
const off = 'off'
const shares = values.sample.split(',')

await beAlone()
// Takes all that it gets, in this process, whose CPU nobody counts.
const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
const origin = await launchOrigin()
const blocks: ReadonlyMap<string, Block>[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  const measured = await measureOnce(round)
  blocks.push(...measured)
  report(`round ${round + 1}`, measured)
}
report('all rounds', blocks)
await origin.stop()
process.exit()

async function measureOnce(round: number): Promise<readonly ReadonlyMap<string, Block>[]> {
  const runners: Started[] = []
  for (const share of round % 2 === 0 ? [off, ...shares] : [...shares, off])
    runners.push(await startRunner(sampling(share), 'get', origin.port))
  const measured: ReadonlyMap<string, Block>[] = []
  const most = Number(values.warm) + Number(values.blocks)
  while (measured.length < most) measured.push(await runBlock(runners, Number(values.slice)))
  for (const runner of runners)
    if ((await runner.stop()) > 0) console.error(`${runner.name}: unexpected responses`)
  return measured.slice(Number(values.warm))
}

function report(what: string, measured: readonly ReadonlyMap<string, Block>[]): void {
  const costs = (name: string) => measured.map(block => block.get(name)!.cost)
  console.log(`${what}, ${off}: ${median(costs(off)).toFixed(1)} µs of CPU a request`)
  for (const share of shares) {
    const { ratio, low, high } = ratioInterval(costs(share), costs(off))
    const [more, least, most] = [ratio, low, high].map(one => `${((one - 1) * 100).toFixed(1)} %`)
    console.log(`  sample ${share}: ${more} more (${least} to ${most})`)
  }
}

/** The gateway that samples a share of the requests, for the collector. */
function sampling(share: string) {
  if (share === off || share === 'same') return gatehouse(share)
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  const telemetry = `telemetry: { sample: ${share}, otlp: { url: '${url}' } }\n`
  return gatehouse(share, undefined, async () => telemetry)
}
