// Compares this working tree with another state of the project: `node bench/compare.ts REF [--mix get] [--rounds 7]
// [--seconds 3]`. Every measurement has a fresh process; both run with the installed packages of this tree.
import { execFileSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from './load/installed.ts'
import { folder } from './load/launch.ts'
import { AI_MIXES, isMixName, MIX_NAMES, type MixName } from './load/mixes.ts'
import { countMistake } from './load/options.ts'
import { launchOrigin, type Peer } from './load/peers.ts'
import { gatehouse } from './load/peers/gatehouse.ts'
import { gatehouseAi } from './load/peers/gatehouse-ai.ts'
import { short } from './load/report.ts'
import { METRICS, type Run, ratio, typical } from './load/results.ts'
import { type Length, measureRounds } from './load/rounds.ts'

const HERE = 'working tree'

const USAGE = `node bench/compare.ts REF [--mix ${MIX_NAMES.join('|')}] [--rounds N] [--seconds N]`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mix: { type: 'string', default: 'get' },
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '3' },
  },
})
const [ref] = positionals
const counts = { rounds: Number(values.rounds), seconds: Number(values.seconds) }
if (ref === undefined || !isMixName(values.mix) || countMistake(counts) !== null) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  print(await compare(ref, values.mix, counts), ref, values.mix)
}

async function compare(ref: string, mix: MixName, length: Length): Promise<Run[]> {
  const make = AI_MIXES.includes(mix) ? gatehouseNative : gatehouse
  const sides = [make(HERE), make(ref, checkOut(ref))]
  const origin = await launchOrigin()
  const runs = await measureRounds([{ mix, peers: sides }], origin.port, length)
  await origin.stop()
  return runs
}

function gatehouseNative(name: string, root?: string): Peer {
  return gatehouseAi('native', name, root)
}

function checkOut(ref: string): string {
  const tree = join(folder, 'tree')
  const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, 'worktree', ...args], { stdio: 'pipe' })
  git('add', '--detach', tree, ref)
  process.prependListener('exit', () => git('remove', '--force', tree))
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  return tree
}

function print(runs: readonly Run[], ref: string, mix: MixName): void {
  const rows = METRICS.map(metric => {
    const here = { peer: HERE, mix, metric }
    const there = { peer: ref, mix, metric }
    const row = { [HERE]: typical(runs, here), [ref]: typical(runs, there), ratio: ratio(runs, here, there) }
    return [metric, Object.fromEntries(Object.entries(row).map(([name, value]) => [name, short(value)]))]
  })
  console.table(Object.fromEntries(rows))
}
