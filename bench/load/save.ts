// Writes the results of a bench where people find them: bench/results, the chart, and the pages.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chartOf } from './chart.ts'
import { historyRow, historyTable, parseHistory } from './history.ts'
import { published, withResults } from './published.ts'
import { report } from './report.ts'
import type { Apart, Results } from './results.ts'

const FOLDER = 'bench/results'

/** Writes results into the project in a folder. */
export function save(root: string, results: Results): void {
  const folder = join(root, FOLDER)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${results.date}.json`), `${JSON.stringify(results, null, 2)}\n`)
  writeFileSync(join(folder, 'latest.md'), report(results))
  writeFileSync(join(root, 'docs/images/benchmarks.svg'), chartOf(results))
  keepHistory(join(folder, 'history.md'), results)
  for (const page of published.keys()) {
    const path = join(root, page)
    writeFileSync(path, withResults(page, readFileSync(path, 'utf8'), results))
  }
}

/** Writes the last whole results again, with what a narrowed run has found later. */
export function add(root: string, later: Results): void {
  const whole = last(root)
  save(root, { ...whole, apart: [...(whole.apart ?? []), partOf(later)] })
}

/** Reads the results of the last whole run. */
function last(root: string): Results {
  const folder = join(root, FOLDER)
  const names = readdirSync(folder).filter(name => name.endsWith('.json'))
  return JSON.parse(readFileSync(join(folder, names.sort().at(-1)!), 'utf8'))
}

function partOf({ peers: _peers, ...found }: Results): Apart {
  return found
}

/** Adds a line for this commit to what earlier ones took, or replaces the one it has for that day. */
function keepHistory(path: string, results: Results): void {
  const row = historyRow(results)
  const [date, commit] = row
  const others = parseHistory(readFileSync(path, 'utf8')).filter(
    other => other[0] !== date || other[1] !== commit,
  )
  writeFileSync(path, historyTable([...others, row]))
}
