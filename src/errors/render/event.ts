// The error record as the last event of a stream whose origin died; the edge appends it.

import type { Problem } from '../problem.ts'
import { renderJson } from './json.ts'

/** Writes the event, from the beginning of a line on. */
export function renderEvent(problem: Problem): string {
  return `event: error\ndata: ${renderJson(problem)}\n\n`
}
