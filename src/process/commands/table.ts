// Data as people read it at a terminal, and as programs do. What comes from outside may say anything but steer the terminal.

import { visible, visibleJson } from '../../base/text/visible.ts'

/** Writes rows in columns that stand below each other, a line feed after each. */
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
