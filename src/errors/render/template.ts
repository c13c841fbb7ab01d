// Renders an error once with sample values, and splits the text at them: a response then only costs filling
// the gaps.

import { memoizeLast } from '../../base/memo.ts'
import { errorRows } from '../catalogue/catalogue.ts'
import { type Occasion, type Problem, problem, timestampOf } from '../catalogue/problem.ts'
import { type Refusal, retryAfterOf } from '../catalogue/refusal.ts'

/** Writes a record in one format; `heading` replaces the title where people read it. */
export type Write = (problem: Problem, heading: string) => string

type Slot = 'ray' | 'zone' | 'origin' | 'wait' | 'date' | 'clock' | 'retry date' | 'retry clock'

export class Template {
  readonly #texts: readonly string[]
  /** Each follows the text with the same index. */
  readonly #slots: readonly Slot[]

  constructor(refusal: Refusal, documentation: string | null, write: Write) {
    const record = problem({ ...refusal, retryAfter: sampleWait }, sample, documentation)
    const heading = refusal.wording?.heading ?? errorRows[refusal.error].title
    const pieces = write(record, heading).split(marks)
    this.#texts = pieces.filter((_, i) => i % 2 === 0)
    this.#slots = pieces.filter((_, i) => i % 2 === 1).map(mark => slotOf.get(mark)!)
  }

  /** Fills in one response; the zone name is already escaped for the format. */
  fill(refusal: Refusal, occasion: Occasion, zone: string): string {
    const texts = this.#texts
    const slots = this.#slots
    let text = texts[0]!
    for (let i = 0; i < slots.length; i++)
      text += valueFor(slots[i]!, refusal, occasion, zone) + texts[i + 1]!
    return text
  }
}

const sampleWait = 5_107_000
const sample: Required<Omit<Occasion, 'sequence' | 'messageId'>> = {
  ray: '51a051a051a051a0',
  zone: 'sample.invalid',
  origin: 'https://origin.invalid:5107',
  accept: null,
  time: Date.UTC(2001, 1, 3, 4, 5, 6),
}

const [sampleDate, sampleClock] = write(secondOf(sample.time))
const [sampleRetryDate, sampleRetryClock] = write(secondOf(sample.time) + sampleWait)

const slotOf: ReadonlyMap<string, Slot> = new Map([
  [sample.ray, 'ray'],
  [sample.zone, 'zone'],
  [sample.origin, 'origin'],
  [String(sampleWait), 'wait'],
  [sampleDate, 'date'],
  [sampleClock, 'clock'],
  [sampleRetryDate, 'retry date'],
  [sampleRetryClock, 'retry clock'],
])

const marks = new RegExp(`(${Array.from(slotOf.keys(), RegExp.escape).join('|')})`)

const now = memoizeLast(write)
const then = memoizeLast(write)

function valueFor(slot: Slot, refusal: Refusal, occasion: Occasion, zone: string): string {
  switch (slot) {
    case 'ray':
      return occasion.ray
    case 'zone':
      return zone
    case 'origin':
      return occasion.origin ?? ''
    case 'wait':
      return String(retryAfterOf(refusal))
    case 'date':
      return now(secondOf(occasion.time))[0]
    case 'clock':
      return now(secondOf(occasion.time))[1]
    case 'retry date':
      return then(secondOf(occasion.time) + retryAfterOf(refusal)!)[0]
    case 'retry clock':
      return then(secondOf(occasion.time) + retryAfterOf(refusal)!)[1]
  }
}

type Moment = readonly [date: string, clock: string]

/** Responses within the same second share one timestamp. */
function secondOf(time: number): number {
  return Math.floor(time / 1000)
}

function write(second: number): Moment {
  const timestamp = timestampOf(second * 1000)
  return [timestamp.slice(0, 10), timestamp.slice(11, 19)]
}
