// The error record as the last event of a stream whose origin failed.

import type { Problem } from '../catalogue/problem.ts'
import { renderJson } from './json.ts'

/** Writes the event, starting at the beginning of a line. */
export function renderEvent(problem: Problem): string {
  return `event: error\ndata: ${renderJson(problem)}\n\n`
}
