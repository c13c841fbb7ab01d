// Measures what traces cost of a GET: node bench/micro/edge/telemetry.ts [--sample 0.01]. Two processes of one program differ by more than that, and each of them from
// minute to minute. So two run beside each other and are loaded in turns, one with traces and one without, and then the other way round: what differs by process or by time
// is in both. What a half leaves behind, spans on their way to the collector, is waited for and counts. --control has traces in neither, and shows what the
// measurement itself does. A greater share costs so many times more, which says what a span costs.
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
import { folder, keep } from '../../load/launch.ts'
import { launchOrigin } from '../../load/peers.ts'
import { gatehouse } from '../../load/peers/gatehouse.ts'

const { values } = parseArgs({
  options: {
    /** The share of requests that is sampled. */
    sample: { type: 'string', default: '0.01' },
    /** Starts of two processes, and the pairs of halves of each, behind those in which all is sampled, so that the code of spans gets as warm as it is behind a million requests. */
    starts: { type: 'string', default: '2' },
    pairs: { type: 'string', default: '8' },
    warm: { type: 'string', default: '1' },
    /** Slices of load of each process in half a pair, and their milliseconds. */
    slices: { type: 'string', default: '20' },
    slice: { type: 'string', default: '100' },
    /** One of `parts` alone. */
    part: { type: 'string' },
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
  /** Ms behind half a pair. */
  readonly rest: number
}

/** µs of CPU a request, by pair: the geometric means of both processes. */
interface Costs {
  readonly off: number[]
  readonly on: number[]
}

type State = keyof Costs | 'warm'

interface Contestant {
  readonly runner: Started
  /** Applies a state of its telemetry. */
  readonly set: (state: State) => Promise<void>
}

/** Ms for what is under way when a slice ends. */
const endOfSlice = 15

await beAlone()
// Takes all that it gets, in this process, whose CPU nobody counts.
const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
collector.listen(0, '127.0.0.1')
await once(collector, 'listening')
const origin = await launchOrigin()
for (const part of parts.filter(({ name }) => values.part === undefined || name === values.part)) {
  const costs: Costs = { off: [], on: [] }
  for (let start = 1; start <= Number(values.starts); start++) {
    await measure(part, costs)
    report(part.name, costs)
  }
}
await origin.stop()
process.exit()

/** Starts two processes and adds what they cost. */
async function measure(part: Part, costs: Costs): Promise<void> {
  const both = [await startContestant(part, 'one'), await startContestant(part, 'other')] as const
  for (let pair = -Number(values.warm); pair < Number(values.pairs); pair++) {
    const on = pair < 0 ? 'warm' : values.control ? 'off' : 'on'
    const [a, b] = await half(both, [on, 'off'], part.rest)
    const [c, d] = await half(both, [pair < 0 ? on : 'off', on], part.rest)
    if (pair < 0) continue
    costs.on.push(Math.sqrt(a * d))
    costs.off.push(Math.sqrt(b * c))
  }
  for (const { runner } of both)
    if ((await runner.stop()) > 0) console.error(`${runner.name}: unexpected responses`)
}

async function startContestant(part: Part, name: string): Promise<Contestant> {
  const peer = gatehouse(`${part.name}-${name}`)
  const file = join(folder, `${peer.name}.yaml`)
  const log = join(folder, `${peer.name}.log`)
  let plain = ''
  const runner = await startRunner(
    {
      ...peer,
      // With a configuration that is not that of the other one.
      async prepare(...where) {
        const command = await peer.prepare(...where)
        plain = readFileSync(command.args.at(-1)!, 'utf8')
        keep(`${peer.name}.yaml`, plain + telemetry(part, 'off'))
        return { ...command, args: [...command.args.slice(0, -1), file] }
      },
    },
    'get',
    origin.port,
  )
  let reloads = 0
  const set = async (state: State) => {
    // Each differs from the one before, so that there is a reload in any case.
    writeFileSync(file, `${plain}${telemetry(part, state)}# ${++reloads}\n`)
    while (readFileSync(log, 'utf8').split('configuration reloaded').length <= reloads) await wait(20)
  }
  return { runner, set }
}

/** Loads both in turns, in states of their own, and returns the µs of CPU of a request of each, with those of the rest behind it. */
async function half(
  both: readonly [Contestant, Contestant],
  states: readonly [State, State],
  rest: number,
): Promise<[number, number]> {
  for (const [at, { set }] of both.entries()) await set(states[at]!)
  const before = both.map(read)
  for (let slice = 0; slice < Number(values.slices); slice++)
    // First one, then the other, and the next time in the reverse order.
    for (const { runner } of slice % 2 === 0 ? both : both.toReversed()) {
      runner.load.resume()
      await wait(Number(values.slice))
      runner.load.pause()
      await wait(endOfSlice)
    }
  await wait(rest)
  const [one, other] = both
    .map(read)
    .map(({ cpu, count }, at) => (cpu - before[at]!.cpu) / (count - before[at]!.count))
  return [one!, other!]
}

function read({ runner: { cpu, load } }: Contestant): { readonly cpu: number; readonly count: number } {
  return { cpu: cpu(), count: load.count }
}

function telemetry({ sends, ...part }: Part, state: State): string {
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
  return `telemetry: { ${part[state]}${sends ? `, otlp: { url: '${url}' }` : ''} }\n`
}

function report(what: string, { on, off }: Costs): void {
  const { ratio, low, high } = ratioInterval(on, off, oneLook)
  const [more, least, most] = [ratio, low, high].map(one => `${((one - 1) * 100).toFixed(2)} %`)
  console.log(`${what}: ${more} more (${least} to ${most}), ${on.length} pairs`)
}
