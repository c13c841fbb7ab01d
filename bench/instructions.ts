// Counts the instructions that a request takes: `node bench/instructions.ts [FOLDER] [--mix get]`, of the package that `npm run build` made in this or another
// working tree. Noise cannot move them, and two trees differ by what their code does.
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { withCallgrind } from './interleaved/callgrind.ts'
import { startRunner } from './interleaved/runners.ts'
import { isScenarioName, type ScenarioName, scenarios } from './interleaved/scenarios.ts'
import { commandVersion, ROOT } from './load/installed.ts'
import { launchOrigin } from './load/peers.ts'

/** Requests until V8 has compiled what it will, and those that are counted. */
const warmUp = 40_000
const counted = 4_000

const options = { mix: { type: 'string', default: 'get' } } as const
const { positionals, values } = parseArgs({ allowPositionals: true, options })
const names = values.mix.split(',')
if (commandVersion('valgrind', ['--version']) === null) {
  console.error('instructions are counted by valgrind, which is not installed')
  process.exitCode = 1
} else if (names.every(isScenarioName)) {
  const origin = await launchOrigin()
  for (const name of names) console.log(await rowOf(name, positionals[0] ?? ROOT, origin.port))
  await origin.stop()
} else {
  console.error(`node bench/instructions.ts [FOLDER] [--mix LIST], of ${Object.keys(scenarios).join(', ')}`)
  process.exitCode = 2
}

async function rowOf(name: ScenarioName, root: string, origin: number): Promise<string> {
  const scenario = scenarios[name]
  const peer = withCallgrind(scenario.peer(name, root))
  const runner = await startRunner(peer, scenario.mix, origin)
  const { load, process } = runner
  const until = async (count: number) => {
    load.resume()
    while (load.count < count) await wait(20)
    load.pause()
    // What is under way ends.
    await wait(1000)
  }
  await until(warmUp)
  peer.instructions(process.pid)
  const [before, begun] = [load.count, performance.now()]
  await until(before + counted)
  const took = performance.now() - begun
  const requests = load.count - before
  const all = peer.instructions(process.pid)
  // So slow, what runs by the clock would weigh a hundred times as much as it does.
  await wait(took)
  const idle = peer.instructions(process.pid)
  await runner.stop()
  const [main, ...others] = all.map((count, i) => (count - (idle[i] ?? 0)) / requests)
  // V8 compiles, marks and sweeps there when it will: one late compilation can be 60 million, 15,000 a request.
  const rest = others.reduce((sum, count) => sum + count, 0)
  return `${name}: ${main!.toFixed(0)} instructions a request in the main thread, ${rest.toFixed(0)} in others`
}
