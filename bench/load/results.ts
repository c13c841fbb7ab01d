// What a bench has found, and the arithmetic on it: pure functions for the targets and the report.
import type { Figures } from '../figures/figures.ts'
import type { Interval } from '../interleaved/interval.ts'
import type { Profile } from '../profile/profile.ts'
import type { Sample } from './measure.ts'
import type { MixName } from './mixes.ts'
import { median } from './statistics.ts'

/** What a contestant was found to take in one round, or in all blocks of a run. What was not measured is missing. */
export interface Run extends Partial<Omit<Sample, 'unexpected'>> {
  readonly mix: MixName
  readonly round: number
  readonly peer: string
  readonly unexpected: number
}

/** A value, with the ends of its interval where it has one. */
export interface Estimate {
  readonly value: number
  readonly low?: number
  readonly high?: number
}

/** A ratio of two contestants that ran beside each other, with its interval. */
export interface Ratio extends Interval {
  readonly subject: Subject
  readonly base: Subject
  readonly blocks: number
}

/** The memory of a soak at one point of it, in MiB. */
export interface Reading {
  readonly requests: number
  /** The median of what was resident since the reading before. */
  readonly memory: number
  /** What lives behind a collection of garbage. */
  readonly heap: number
}

export interface Soak {
  readonly requests: number
  /** Missing in results from before there were readings. */
  readonly unexpected?: number
  readonly readings?: readonly Reading[]
}

export interface Scan {
  readonly requests: number
  /** Resident MiB. */
  readonly before: number
  readonly after: number
}

/** What a narrowed run has found later than the whole one. */
export type Apart = Omit<Results, 'peers' | 'apart'>

export interface Results {
  readonly date: string
  /** Missing in results from before there were blocks. */
  readonly commit?: string
  readonly machine: Readonly<Record<'processor' | 'memory' | 'system' | 'node', string>>
  /** The version of each peer, or null where it is not installed. */
  readonly peers: Readonly<Record<string, string | null>>
  readonly rounds: number
  readonly seconds: number
  /** The most blocks of a run, and milliseconds of a slice; missing in results from before there were any, as are ratios. */
  readonly blocks?: number
  readonly slice?: number
  /** How often the contestants of a heat were started; missing in results from before that was a choice, which have one. */
  readonly launches?: number
  /** Whether Gatehouse and nginx wrote access logs; missing in results from before they did. */
  readonly hasAccessLogs?: true
  readonly runs: readonly Run[]
  readonly ratios?: readonly Ratio[]
  readonly profile?: Profile
  readonly figures?: Figures
  /** Milliseconds from start to the first answer of Gatehouse; null where not measured. */
  readonly startup: number | null
  readonly soak: Soak | null
  readonly scan: Scan | null
  /** In the order of their times. */
  readonly apart?: readonly Apart[]
}

export const METRICS = [
  'cost',
  'rate',
  'p50',
  'p99',
  'memory',
  'attempts',
  'dropped',
] as const satisfies readonly (keyof Sample)[]

export type Metric = (typeof METRICS)[number]

/** A metric of a peer under a mix. */
export interface Subject {
  readonly peer: string
  readonly mix: MixName
  readonly metric: Metric
}

/** Returns the median over the rounds, or null where nothing was measured. */
export function typical(runs: readonly Run[], subject: Subject): number | null {
  return medianOrNull([...byRound(runs, subject).values()])
}

/** Returns how many answers or streams were not as they had to be, in the worst round; null where nothing was measured. */
export function mostUnexpected(runs: readonly Run[], { peer, mix }: Omit<Subject, 'metric'>): number | null {
  const own = runs.filter(run => run.peer === peer && run.mix === mix)
  return own.length === 0 ? null : Math.max(...own.map(run => run.unexpected))
}

/** Returns the median of the ratios within each round, or null where no round has both. */
export function ratio(runs: readonly Run[], subject: Subject, base: Subject): number | null {
  const bases = byRound(runs, base)
  const both = [...byRound(runs, subject)].filter(([round]) => bases.has(round))
  return medianOrNull(both.map(([round, value]) => value / bases.get(round)!))
}

/** Returns the ratio of two that ran beside each other, with its interval; null where they did not. */
export function intervalOf(
  { ratios = [] }: Pick<Results, 'ratios'>,
  subject: Subject,
  base: Subject,
): Ratio | null {
  return ratios.find(found => isSame(found.subject, subject) && isSame(found.base, base)) ?? null
}

function isSame(a: Subject, b: Subject): boolean {
  return a.peer === b.peer && a.mix === b.mix && a.metric === b.metric
}

/** Returns how what a soak took grew from its second reading, when it was warm, to its last; null where it has none. */
export function growth(soak: Soak | null, of: 'memory' | 'heap'): number | null {
  const [, second] = soak?.readings ?? []
  return second ? soak!.readings!.at(-1)![of] / second[of] : null
}

function byRound(runs: readonly Run[], { peer, mix, metric }: Subject): Map<number, number> {
  const own = runs.filter(run => run.peer === peer && run.mix === mix)
  const values = own.map(run => [run.round, run[metric]] as const)
  return new Map(values.filter((pair): pair is readonly [number, number] => pair[1] !== undefined))
}

function medianOrNull(values: readonly number[]): number | null {
  return values.length === 0 ? null : median(values)
}
