// Formats data for people at a terminal, and for programs. Data from outside cannot control the terminal.

import { visible, visibleJson } from '../../base/text/visible.ts'

/** Writes rows in aligned columns, each with a line feed. */
export function columns(rows: readonly (readonly string[])[]): string {
  const shown = rows.map(row => row.map(visible))
  const widths = shown.reduce<number[]>(
    (widest, row) => row.map((cell, i) => Math.max(widest[i] ?? 0, cell.length)),
    [],
  )
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return shown.map(row => `${line(row)}\n`).join('')
}

/** Writes a value as JSON, indented. */
export function json(value: unknown): string {
  return `${visibleJson(JSON.stringify(value, null, 2))}\n`
}
