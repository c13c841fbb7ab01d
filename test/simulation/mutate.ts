// Makes one mistake in the code that a scenario runs, and looks for a schedule that finds it.

import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { root } from '../help/source.ts'
import { mutations } from './mutations.ts'
import { scenarios, type Simulate } from './scenarios.ts'

interface Finding {
  readonly seed: number
  readonly fault: string
}

/** Returns the first schedule that finds a mutation, and nothing in the code as it is; null if none does. */
export async function findingOf(number: number, schedules: number): Promise<Finding | null> {
  const { simulate: simulateRight, url } = scenarios.get(mutations[number]!.scenario)!
  const { simulate }: { simulate: Simulate } = await import(`${url}?mutation=${number}`)
  for (let seed = 1; seed <= schedules; seed++) {
    const [fault] = (await simulate(seed)).faults
    if (fault !== undefined && (await simulateRight(seed)).faults.length === 0) return { seed, fault }
  }
  return null
}

const mark = /\?mutation=(\d+)$/
const imports = /^(?:import|export) (?!type\b)[^'"`]*?\bfrom '(\.[^']+)'/gm

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const [marked, number] = mark.exec(context.parentURL ?? '') ?? []
    return marked !== undefined && isCopied(resolved.url, mutations[Number(number)]!.file)
      ? { ...resolved, url: resolved.url + marked }
      : resolved
  },
  load(url, context, next) {
    const loaded = next(url, context)
    const number = mark.exec(url)?.[1]
    if (number === undefined) return loaded
    const { file, from, to } = mutations[Number(number)]!
    if (url.replace(mark, '') !== urlOf(file)) return loaded
    const [before, after, ...others] = Buffer.from(loaded.source as Uint8Array)
      .toString()
      .split(from)
    if (after === undefined || others.length > 0)
      throw new Error(`${file} has not one ${JSON.stringify(from)}`)
    return { ...loaded, source: before + to + after }
  },
})

/** Whether a mutation has a copy of its own of a file: one that leads to the file of the mutation. */
function isCopied(url: string, file: string): boolean {
  const target = urlOf(file)
  const leads = leading.get(target) ?? new Map<string, boolean>([[target, true]])
  leading.set(target, leads)
  const isLeading = (from: string): boolean => {
    const known = leads.get(from)
    if (known !== undefined) return known
    // In a circle, the other way round decides.
    leads.set(from, false)
    const does = importsOf(from).filter(isLeading).length > 0
    leads.set(from, does)
    return does
  }
  return isLeading(url)
}

const leading = new Map<string, Map<string, boolean>>()
const imported = new Map<string, readonly string[]>()

function importsOf(url: string): readonly string[] {
  const known = imported.get(url)
  if (known !== undefined) return known
  const isOurs = url.startsWith('file:') && url.endsWith('.ts')
  const text = isOurs ? readFileSync(fileURLToPath(url), 'utf8') : ''
  const all = [...text.matchAll(imports)].map(([, specifier]) => new URL(specifier!, url).href)
  imported.set(url, all)
  return all
}

function urlOf(file: string): string {
  return pathToFileURL(join(root, file)).href
}
