// The error record as compact JSON, for programs; application/json and application/problem+json share it.

import type { Problem } from '../catalogue/problem.ts'

export function renderJson(problem: Problem): string {
  return asciiJson(problem)
}

/** Writes a value as JSON in ASCII only: any other character is escaped. */
export function asciiJson(value: unknown): string {
  return inAscii(JSON.stringify(value))
}

/** Escapes in JSON what is not ASCII. */
export function inAscii(json: string): string {
  return json.replace(notAscii, escapeUnit)
}

const notAscii = /[\x7f-\uffff]/g

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
