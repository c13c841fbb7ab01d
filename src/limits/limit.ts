// A limit as requests are counted against it: how many in which window, and how far this process may go without asking the others. The edge compiles them.

/** What is counted together: the last so many ms; or periods of so many ms, days and months of UTC, each from its beginning. */
type Span =
  | { readonly kind: 'sliding' | 'fixed'; readonly period: number } // ms
  | { readonly kind: 'day' | 'month' }

export interface Limit {
  /** Distinguishes it from all other limits that are counted in the same store. */
  readonly name: string
  readonly most: number
  readonly span: Span
  /** Ms; of a month the shortest. */
  readonly period: number
  /** The count up to which it is far enough to go on without asking, when all that may have happened since is added. */
  readonly ceiling: number
  /** How much all processes together may have counted in a ms, at ten times the limit. */
  readonly growth: number
  /** The most that a process may have let in of which the store does not know. */
  readonly untold: number
  /** How much of that may be let in before anything is known. */
  readonly blind: number
}

/** What a process may let in unheard, as a part of the limit: four may be wrong at once, by two percent together, however sudden the rush. */
const unheard = 1 / 200
/** Of a smaller limit one request is more than that part. It is let in only where so many still fit that a rush from nothing is noticed before; */
const small = 200
/** and below this it would weigh too much. */
const smallest = 20

/** Compiles a limit; what two limits of the same name, span and period count is one. */
export function limitOf(name: string, most: number, span: Span): Limit {
  const period = 'period' in span ? span.period : span.kind === 'day' ? day : 28 * day
  return {
    name: `${span.kind} ${period} ${name}`,
    most,
    span,
    period,
    ceiling: (most < small ? 0.25 : 0.75) * most,
    growth: (10 * most) / period,
    untold: most < smallest ? 0 : Math.max(1, Math.floor(most * unheard)),
    blind: Math.floor(most * unheard),
  }
}

/** Returns the end of the window that `now` is in, both in ms since the epoch; infinite where it slides. */
export function endOf(span: Span, now: number): number {
  switch (span.kind) {
    case 'sliding':
      return Number.POSITIVE_INFINITY
    case 'fixed':
      return (Math.floor(now / span.period) + 1) * span.period
    case 'day':
      return (Math.floor(now / day) + 1) * day
    case 'month': {
      const date = new Date(now)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1)
    }
  }
}

const day = 86_400_000
