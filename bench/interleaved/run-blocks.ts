// Runs blocks until what is asked is decided, or a limit is reached.
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
}

/** Runs blocks, and looks after 10, 20, 40, 80 and 160 of them whether every question is decided. */
export async function runBlocks(
  runners: readonly Runner[],
  questions: readonly Question[],
  { slice, maximumBlocks }: RunLength,
  onLook: (blocks: Blocks) => void = () => {},
): Promise<Blocks> {
  const blocks: Map<string, Block>[] = []
  for (const look of looks) {
    if (blocks.length === maximumBlocks) break
    while (blocks.length < Math.min(look, maximumBlocks)) blocks.push(await runBlock(runners, slice))
    onLook(blocks)
    if (questions.every(question => answer(question, blocks).verdict !== 'undecided')) break
  }
  return blocks
}

/** Answers a question from the blocks there are. */
export function answer({ name, base, metric, bound }: Question, blocks: Blocks): Answer {
  const of = (contestant: string) => blocks.map(block => block.get(contestant)![metric])
  const interval = ratioInterval(of(name), of(base))
  const found = verdict(interval, bound)
  const missing = found === 'undecided' ? blocksMissing(interval, bound, blocks.length) : 0
  return { ...interval, verdict: found, blocks: blocks.length, missing }
}
