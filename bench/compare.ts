// Compares this working tree with another state of the project: `node bench/compare.ts REF [--mix get]`. Both run beside
// each other, and the load goes from one to the other and back every 100 ms.
import { existsSync, symlinkSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Compared, compareStates } from './interleaved/compare-states.ts'
import { comparisonTable } from './interleaved/comparison-table.ts'
import { looks } from './interleaved/interval.ts'
import { isScenarioName, type ScenarioName, scenarios } from './interleaved/scenarios.ts'
import { beAlone } from './load/alone.ts'
import { ROOT } from './load/installed.ts'
import { folder } from './load/launch.ts'
import { launchOrigin } from './load/peers.ts'

const usage = `node bench/compare.ts REF [--mix get] [options]: a commit, or the folder of another working tree
  --mix LIST      of ${Object.keys(scenarios).join(', ')} (get), or all
  --against MIX   what the base runs in, one under the same load as each of the list: those of chats are chat, open,
                  token, entries, log, governed, budgets, hit, guarded and rest,
                  those of streams stream and guardedStream (the same), those of a gate get and what begins with protected or
                  identified, and of a thousand clients in turn cookies, bearers and the other names in the plural
  --bound N       the ratio of CPU that must be decided (1)
  --blocks N      blocks after which to give up, of two slices each; it looks after ${looks.join(', ')} (80)
  --slice N       milliseconds of a slice (100)
  --launches N    how often both are started, in turns; with more than 1, each launch has ${looks[0]} blocks and
                  is one value of the interval, which then holds for other starts too (1)
  --json          prints JSON in place of the table`

const options = {
  mix: { type: 'string', default: 'get' },
  against: { type: 'string' },
  bound: { type: 'string', default: '1' },
  blocks: { type: 'string', default: '80' },
  slice: { type: 'string', default: '100' },
  launches: { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

const { positionals, values } = parseArgs({ allowPositionals: true, options })
const [ref] = positionals
const names = values.mix === 'all' ? Object.keys(scenarios) : values.mix.split(',')
const [bound, maximumBlocks, slice, launches] = [
  values.bound,
  values.blocks,
  values.slice,
  values.launches,
].map(Number) as [number, number, number, number]
const isCount = (value: number, least: number) => Number.isInteger(value) && value >= least
const isGood = bound > 0 && isCount(maximumBlocks, looks[0]!) && slice >= 20 && isCount(launches, 1)
const { against } = values
const loadOf = (name: ScenarioName) => scenarios[name].mix
const isComparable = (name: ScenarioName) =>
  against === undefined || (isScenarioName(against) && loadOf(against) === loadOf(name))
if (values.help) {
  console.log(usage)
} else if (ref === undefined || !names.every(isScenarioName) || !names.every(isComparable) || !isGood) {
  console.error(usage)
  process.exitCode = 2
} else {
  await beAlone()
  const root = existsSync(join(ref, 'src/main.ts')) ? ref : checkOut(ref)
  const compared = await compareAll(names, { name: ref, root })
  console.log(values.json ? JSON.stringify(compared, null, 2) : comparisonTable(compared, bound))
}

async function compareAll(names: readonly ScenarioName[], base: { name: string; root: string }) {
  const origin = await launchOrigin()
  const compared: Compared[] = []
  for (const scenario of names) {
    const extent = { slice, maximumBlocks, launches, ...(against && { against: against as ScenarioName }) }
    compared.push(await compareStates(scenario, base, bound, origin.port, extent))
  }
  await origin.stop()
  return compared
}

function checkOut(ref: string): string {
  const tree = join(folder, 'tree')
  const git = (...args: string[]) => execFileSync('git', ['-C', ROOT, 'worktree', ...args], { stdio: 'pipe' })
  git('add', '--detach', tree, ref)
  process.prependListener('exit', () => git('remove', '--force', tree))
  symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'))
  return tree
}
