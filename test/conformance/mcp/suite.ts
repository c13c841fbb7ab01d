// Runs the conformance suite of the Model Context Protocol against a server or a client, as a process of its own.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../help/source.ts'

export const program = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** What became of each check, by its scenario, its id and its number there; what was skipped is among them. */
export type Outcomes = ReadonlyMap<string, Check>

/** Runs all that a revision requires, or one scenario of it. */
export function runSuite(url: string, revision: string, scenario?: string): Promise<Outcomes> {
  const which =
    scenario === undefined
      ? ['--requirements', revision]
      : ['--scenario', scenario, '--spec-version', revision]
  return run(['server', '--url', url, ...which])
}

/** Runs a scenario for a client, which gets to the suite's own server at once or through a route. */
export function runClientSuite(
  way: 'direct' | 'route',
  revision: string,
  scenario: string,
): Promise<Outcomes> {
  const command = `${process.execPath} ${join(import.meta.dirname, 'client.ts')} ${way}`
  return run(['client', '--command', command, '--scenario', scenario, '--spec-version', revision])
}

async function run(args: readonly string[]): Promise<Outcomes> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    const child = spawn(process.execPath, [program, ...args, '-o', folder], { stdio: 'ignore' })
    await once(child, 'close')
    return outcomesIn(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Lists the checks that failed, and why. */
export function failuresIn(outcomes: Outcomes): ReadonlyMap<string, string> {
  const failures = [...outcomes].filter(([, { status }]) => status === 'FAILURE')
  return new Map(failures.map(([name, { errorMessage = '' }]) => [name, errorMessage]))
}

export function outcomesIn(folder: string): Outcomes {
  const outcomes = new Map<string, Check>()
  for (const file of globSync('*/checks.json', { cwd: folder })) {
    const scenario = /^(?:(?:authorization-)?server-)?(.*)-\d{4}-\d\d-\d\dT/.exec(file)![1]!
    const counts = new Map<string, number>()
    for (const check of JSON.parse(readFileSync(join(folder, file), 'utf8')) as Check[]) {
      const n = (counts.get(check.id) ?? 0) + 1
      counts.set(check.id, n)
      outcomes.set(`${scenario} ${check.id} ${n}`, check)
    }
  }
  return outcomes
}
