// The error record as the last event of a stream whose origin died; the edge appends it.

import type { Problem } from './problem.ts'
import { renderJson } from './render-json.ts'

/** Writes the event; the blank line before it ends the event that the origin may have left half-written. */
export function renderEvent(problem: Problem): string {
  return `\n\nevent: error\ndata: ${renderJson(problem)}\n\n`
}
