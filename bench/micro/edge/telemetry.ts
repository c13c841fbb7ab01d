// Measures what traces cost of a GET: node bench/micro/edge/telemetry.ts [--sample 0.01]. Two processes of one program differ by more than that, so that it is one,
// whose configuration is reloaded between slices. What a slice leaves behind, spans on their way to the collector, is waited for and counts. --control
// changes nothing between slices, and shows what the measurement itself does.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { oneLook, ratioInterval } from '../../interleaved/interval.ts'
import { type Started, startRunner } from '../../interleaved/runners.ts'
import { beAlone } from '../../load/alone.ts'
import { folder } from '../../load/launch.ts'
import { launchOrigin } from '../../load/peers.ts'
import { gatehouse } from '../../load/peers/gatehouse.ts'

const { values } = parseArgs({
  options: {
    /** The share of requests that is sampled. */
    sample: { type: 'string', default: '0.01' },
    /** Pairs of slices, behind those in which all is sampled, so that the code of spans gets as warm as it is behind a million requests. */
    pairs: { type: 'string', default: '25' },
    warm: { type: 'string', default: '3' },
    /** Milliseconds of load. */
    slice: { type: 'string', default: '1000' },
    control: { type: 'boolean', default: false },
  },
})
/** What is measured by itself, since a gateway that sends spans cannot be without traces: to take part in them, with nothing sampled, and to sample. */
const parts: readonly Part[] = [
  {
    name: 'context',
    sends: false,
    off: 'trace_context: off',
    on: 'trace_context: on, sample: 0',
    warm: 'trace_context: on, sample: 0',
    rest: 200,
  },
  // The rest is longer than a span waits for others.
  {
    name: 'spans',
    sends: true,
    off: 'sample: 0',
    on: `sample: ${values.sample}`,
    warm: 'sample: 1',
    rest: 2_300,
  },
]

interface Part {
  readonly name: string
  readonly sends: boolean
  readonly off: string
  readonly on: string
  readonly warm: string
  /** Ms behind a slice. */
  readonly rest: number
}

/** µs of CPU a request, by pair. */
interface Costs {
  readonly off: number[]
  readonly on: number[]
}

await beAlone()
// Takes all that it gets, in this process, whose CPU nobody counts.
const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
const origin = await launchOrigin()
const measured: Costs[] = []
for (const part of parts) {
  const costs = await measure(part)
  report(part.name, costs)
  measured.push(costs)
}
const product = (of: keyof Costs) => measured[0]![of].map((cost, at) => cost * measured[1]![of][at]!)
report('both', { off: product('off'), on: product('on') })
await origin.stop()
process.exit()

async function measure(part: Part): Promise<Costs> {
  const runner = await startRunner(
    gatehouse(part.name, undefined, async () => telemetry(part, 'off')),
    'get',
    origin.port,
  )
  const file = join(folder, 'gatehouse.yaml')
  const plain = readFileSync(file, 'utf8').replace(telemetry(part, 'off'), '')
  const log = join(folder, `${part.name}.log`)
  const costs: Costs = { off: [], on: [] }
  let reloads = 0
  for (let pair = -Number(values.warm); pair < Number(values.pairs); pair++) {
    const order = Math.random() < 0.5 ? (['off', 'on'] as const) : (['on', 'off'] as const)
    for (const state of order) {
      // Each differs from the one before, so that there is a reload in any case.
      writeFileSync(
        file,
        `${plain}${telemetry(part, pair < 0 ? 'warm' : values.control ? 'off' : state)}# ${++reloads}\n`,
      )
      while (readFileSync(log, 'utf8').split('configuration reloaded').length <= reloads) await wait(20)
      const cost = await slice(runner, part.rest)
      if (pair >= 0) costs[state].push(cost)
    }
  }
  if ((await runner.stop()) > 0) console.error(`${part.name}: unexpected responses`)
  return costs
}

/** Loads the gateway for a slice, and returns the µs of CPU of a request, with those of the rest behind it. */
async function slice({ load, cpu }: Started, rest: number): Promise<number> {
  const [spent, count] = [cpu(), load.count]
  load.resume()
  await wait(Number(values.slice))
  load.pause()
  await wait(rest)
  return (cpu() - spent) / (load.count - count)
}

function telemetry({ sends, ...part }: Part, state: keyof Costs | 'warm'): string {
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  return `telemetry: { ${part[state]}${sends ? `, otlp: { url: '${url}' }` : ''} }\n`
}

function report(what: string, { on, off }: Costs): void {
  const { ratio, low, high } = ratioInterval(on, off, oneLook)
  const [more, least, most] = [ratio, low, high].map(one => `${((one - 1) * 100).toFixed(2)} %`)
  console.log(`${what}: ${more} more (${least} to ${most}), ${on.length} pairs`)
}
