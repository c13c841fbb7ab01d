// Runs blocks until what is asked is decided, or a limit is reached.
import { median } from '../load/statistics.ts'
import { type Block, type Runner, runBlock } from './blocks.ts'
import { blocksMissing, type Interval, looks, ratioInterval, type Verdict, verdict } from './interval.ts'

/** What is compared: a metric of one contestant against that of another, and the bound that matters. */
export interface Question {
  readonly name: string
  readonly base: string
  readonly metric: keyof Block
  readonly bound: number
}

/** What came out. */
export interface Answer extends Interval {
  readonly verdict: Verdict
  readonly blocks: number
  /** How many blocks more may decide it; 0 where it is decided. */
  readonly missing: number
}

/** All blocks of all contestants, in the order in which they ran. */
export type Blocks = readonly ReadonlyMap<string, Block>[]

export interface RunLength {
  /** Milliseconds of a slice; a block has two of each contestant. */
  readonly slice: number
  readonly maximumBlocks: number
  /** When to end, by performance.now(), but for the first look; whenever the blocks are done where it is missing. */
  readonly until?: number
}

/** How often contestants are started, and how long they run each time. */
export interface Extent extends RunLength {
  /** With more than one, each has the blocks of the first look and is one value of the intervals: two starts of one program differ, however many blocks they have. */
  readonly launches: number
}

/**
 * Runs blocks, and looks after 10, 20, 40, 80 and 160 of them whether every question is decided. To end by the clock
 * makes no interval wrong, since the clock knows nothing of the results.
 */
export async function runBlocks(
  runners: readonly Runner[],
  questions: readonly Question[],
  { slice, maximumBlocks, until = Number.POSITIVE_INFINITY }: RunLength,
  onLook: (blocks: Blocks) => void = () => {},
): Promise<Blocks> {
  const blocks: Map<string, Block>[] = []
  const isOver = () =>
    blocks.length === maximumBlocks || (blocks.length >= looks[0]! && performance.now() >= until)
  for (const look of looks) {
    while (blocks.length < look && !isOver()) blocks.push(await runBlock(runners, slice))
    onLook(blocks)
    if (isOver() || questions.every(question => answer(question, blocks).verdict !== 'undecided')) break
  }
  return blocks
}

/** Returns the medians of each contestant: one value of an interval over launches. */
export function typicalOf(blocks: Blocks): ReadonlyMap<string, Block> {
  const of = (name: string, metric: keyof Block) => median(blocks.map(block => block.get(name)![metric]))
  return new Map(
    [...blocks[0]!.keys()].map(name => [name, { cost: of(name, 'cost'), rate: of(name, 'rate') }]),
  )
}

/** Answers a question from the blocks there are; the deviations are those of `ratioInterval`. */
export function answer({ name, base, metric, bound }: Question, blocks: Blocks, deviations?: number): Answer {
  const of = (contestant: string) => blocks.map(block => block.get(contestant)![metric])
  const interval = ratioInterval(of(name), of(base), deviations)
  const found = verdict(interval, bound)
  const missing = found === 'undecided' ? blocksMissing(interval, bound, blocks.length) : 0
  return { ...interval, verdict: found, blocks: blocks.length, missing }
}
