// Writes a comparison of two states as a table: pure functions.
import { short, table } from '../load/report.ts'
import type { Compared, State } from './compare-states.ts'
import type { Answer } from './run-blocks.ts'

/** Returns a table with a row for each thing that was measured or counted; the bound is that of the CPU. */
export function comparisonTable(compared: readonly Compared[], bound: number): string {
  const head = ['', compared[0]!.here.name, compared[0]!.base.name, 'ratio', '95 % interval', '']
  return table(
    head,
    compared.flatMap(one => rowsOf(one, bound)),
  )
}

function rowsOf(compared: Compared, bound: number): string[][] {
  const { scenario: name, against, unit, over, here, base, cost, rate } = compared
  const scenario = against === name ? name : `${name} against ${against}`
  const measured = (what: string, of: (state: State) => number, answer: Answer, said: string) => [
    `${scenario}: ${what}`,
    short(of(here)),
    short(of(base)),
    answer.ratio.toFixed(3),
    `${answer.low.toFixed(3)}–${answer.high.toFixed(3)}`,
    said,
  ]
  const counted = (what: string, of: (state: State) => number | null) => {
    const [a, b] = [of(here), of(base)]
    const ratio = a === null || b === null || b === 0 ? '–' : (a / b).toFixed(3)
    return [`${scenario}: ${what}`, short(a), short(b), ratio, '', '']
  }
  const wrong = counted('unexpected responses', state => state.unexpected)
  return [
    measured(`CPU µs per ${unit}`, state => state.typical.cost, cost, said(cost, bound, over)),
    measured(`${unit}s/s`, state => state.typical.rate, rate, ''),
    counted(`system calls per ${unit}`, state => state.counts.systemCalls),
    ...namesOf(here, base).map(name => counted(`- ${name}`, state => state.counts.byName[name] ?? 0)),
    counted(`heap bytes per ${unit}`, state => state.counts.allocatedBytes),
    counted('RSS MiB', state => state.memory),
    ...(here.unexpected + base.unexpected > 0 ? [wrong] : []),
  ]
}

/** Calls that one of a hundred requests makes. */
const rare = 0.01

function namesOf(...states: readonly State[]): string[] {
  const names = new Set(states.flatMap(({ counts }) => Object.keys(counts.byName)))
  const most = (name: string) => Math.max(...states.map(({ counts }) => counts.byName[name] ?? 0))
  return [...names].filter(name => most(name) >= rare).sort((a, b) => most(b) - most(a))
}

/** Says in words what was decided. */
export function said({ verdict, missing }: Answer, bound: number, over: Compared['over'] = 'blocks'): string {
  const to = bound === 1 ? '' : ` than ${bound}×`
  if (verdict === 'below') return `less${to}`
  if (verdict === 'above') return `more${to}`
  return verdict === 'same' ? 'the same within 1 %' : `undecided, some ${missing} more ${over}`
}
